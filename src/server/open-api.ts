// The OpenAPI document of the routes, from the same schemas that check requests. It is made once, when it is first asked for.
import type { App } from './app.js';
import { healthSchema, readySchema } from './schemas/looking.js';

export function describeApi(app: App, version: string): void {
  const { openAPIRegistry: registry } = app;
  registry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description: 'hf_…, from `holdfast token create`; not needed while no token was made',
  });
  const tags = ['operations'];
  const json = (schema: typeof healthSchema | typeof readySchema): object => ({ 'application/json': { schema } });
  registry.registerPath({
    ...{ method: 'get', path: '/healthz', operationId: 'isAlive', tags, summary: 'The process lives', security: [] },
    responses: { 200: { description: 'It does', content: json(healthSchema) } },
  });
  registry.registerPath({
    ...{ method: 'get', path: '/readyz', operationId: 'isReady', tags, security: [] },
    summary: 'Whether to send requests here: not while it starts, drains, or its store is silent',
    responses: {
      200: { description: 'Ready', content: json(readySchema) },
      503: { description: 'Not now', content: json(readySchema) },
    },
  });
  let text: string | undefined;
  app.get('/openapi.json', (c) => {
    text ??= JSON.stringify(
      app.getOpenAPI31Document({
        openapi: '3.1.0',
        info: { title: 'Holdfast', version, description: 'Leases with fencing epochs, fair queues and a log.' },
        servers: [{ url: '/' }],
      }),
    );
    return c.body(text, 200, { 'content-type': 'application/json' });
  });
}
