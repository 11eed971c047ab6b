// The parent's hand on a holding process (holder-child.mjs): orders go out, and each kind of message can be waited for.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const START_MS = 120_000;
const CHILD = fileURLToPath(new URL('holder-child.mjs', import.meta.url));

export class Holder {
  #heard = [];
  #waiting = new Set();

  static async start(contender, place) {
    const holder = new Holder();
    holder.child = fork(CHILD, [contender.id, JSON.stringify(place)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    holder.child.on('message', (message) => holder.#hear(message));
    holder.child.on('exit', () => holder.#ended());
    holder.child.on('error', () => undefined); // a message to somebody who was killed
    if ((await holder.next('ready', START_MS)) === undefined) throw new Error(`${contender.id} did not start`);
    return holder;
  }

  send(order) {
    this.child.send(order);
  }

  kill(signal) {
    this.child.kill(signal);
  }

  async end() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }

  /** The next message of a kind, also one that came already; undefined after so long, or when the process has ended. */
  next(kind, patienceMs) {
    const at = this.#heard.findIndex((message) => message[kind] !== undefined);
    if (at >= 0) return Promise.resolve(this.#heard.splice(at, 1)[0]);
    return new Promise((resolve) => {
      const answer = (message) => {
        clearTimeout(timer);
        this.#waiting.delete(wait);
        resolve(message);
      };
      const wait = { kind, answer };
      const timer = setTimeout(answer, patienceMs);
      this.#waiting.add(wait);
    });
  }

  #hear(message) {
    const wait = [...this.#waiting].find(({ kind }) => message[kind] !== undefined);
    if (wait) wait.answer(message);
    else this.#heard.push(message);
  }

  #ended() {
    for (const { answer } of this.#waiting) answer();
  }
}
