// A receiver of webhooks: a real HTTP server on a free port that keeps what it got and answers as it is told.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: Received[];
  /** Status of the next answers; after the last one 204. `hang`: no answer at all. */
  readonly answers: (number | 'hang')[];
  close(): Promise<void>;
}

export async function startReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const answers: (number | 'hang')[] = [];
  const server: Server = createServer((request, response) => {
    const answerTo = (body: string): void => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      const answer = answers.shift() ?? 204;
      if (answer !== 'hang') response.writeHead(answer, answer === 307 ? { location: '/elsewhere' } : {}).end();
    };
    text(request).then(answerTo, () => request.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/secret-path`,
    received,
    answers,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
