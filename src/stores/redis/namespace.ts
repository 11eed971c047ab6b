// One namespace over a link: runs a script on its keys and reads what every answer begins with (S13, O4). A namespace that
// nobody has used yet is made by the first call that needs it, never by one that may only look.
import { LeaseError } from '../../domain/errors.js';
import type { Reply } from '../store.js';
import type { Moment } from './items.js';
import { KEY_TYPES, keysOf, streamKeysOf } from './keys.js';
import type { RedisLink, Script } from './link.js';
import { SCRIPTS } from './lua/scripts.js';

const NOT_MADE_YET = 'none';

/** What a script answered: the reply's own fields, and the rest in order. */
export interface Answered {
  readonly reply: Reply;
  readonly moment: Moment;
  readonly rest: readonly unknown[];
}

export class Namespace {
  readonly name: string;
  readonly link: RedisLink;
  readonly isReadOnly: boolean;
  readonly keys: readonly string[];
  /** As the last answer had it: it is the same for days. */
  #seldom = { text: '', incarnation: NOT_MADE_YET, settingsVersion: 1 };

  constructor(link: RedisLink, name: string, isReadOnly: boolean) {
    this.link = link;
    this.name = name;
    this.isReadOnly = isReadOnly;
    this.keys = keysOf(name);
  }

  /** Makes it where there is none, and looks whether its keys are what they should be. */
  async open(): Promise<void> {
    if (this.isReadOnly) await this.look(SCRIPTS.time, []);
    else await this.write(SCRIPTS.open, []);
  }

  /** `keys` are those the script touches: of leases, unless others are named. */
  write(script: Script, args: readonly string[], keys = this.keys): Promise<Answered> {
    return this.isReadOnly ? Promise.reject(lookingOnly()) : this.#run(script, args, keys);
  }

  async look(script: Script, args: readonly string[], keys = this.keys): Promise<Answered> {
    const answered = await this.#run(script, args, keys);
    if (answered.reply.incarnation !== NOT_MADE_YET || this.isReadOnly) return answered;
    await this.open();
    return this.#run(script, args, keys);
  }

  async #run(script: Script, args: readonly string[], keys: readonly string[]): Promise<Answered> {
    let answer: readonly unknown[];
    try {
      answer = (await this.link.run(script, keys, args)) as readonly unknown[];
    } catch (error) {
      if (error instanceof LeaseError && error.details['reply'] === 'WRONGTYPE') throw await this.#wrongType(error);
      throw error;
    }
    const [now, wall, seldom] = answer;
    if (typeof now !== 'number') throw trouble(String(now), String(wall), this.name);
    if (seldom !== this.#seldom.text) this.#seldom = readSeldom(String(seldom));
    const { incarnation, settingsVersion } = this.#seldom;
    const reply = { now, incarnation, settingsVersion };
    return { reply, moment: { now, wall: Number(wall) }, rest: answer.slice(3) };
  }

  async #wrongType(cause: LeaseError): Promise<LeaseError> {
    for (const [i, key] of streamKeysOf(this.name).entries()) {
      const type = await this.link.command(key, ['TYPE', key]);
      if (type !== KEY_TYPES[i] && type !== 'none') return foreign(key, cause);
    }
    return cause;
  }
}

/** mark keep logsRenewals version pruned identity incarnation … */
function readSeldom(text: string): { text: string; incarnation: string; settingsVersion: number } {
  const words = text.split(' ');
  return { text, incarnation: words[6] ?? NOT_MADE_YET, settingsVersion: Number(words[3]) };
}

function trouble(word: string, what: string, namespace: string): LeaseError {
  if (word === 'foreign') return foreign(what);
  if (word === 'newer') {
    const message = `namespace ${namespace} is in format ${what}, which is newer than this code: update holdfast here first`;
    return new LeaseError('STORE_INCOMPATIBLE', message, { details: { namespace, format: Number(what) } });
  }
  return new LeaseError('STORE_UNAVAILABLE', `the server gave an answer that is none: ${word.slice(0, 80)}`);
}

function foreign(key: string, cause?: LeaseError): LeaseError {
  const message = `the key ${key} holds something that is not holdfast's: move it away, or use another namespace or database`;
  return new LeaseError('STORE_INCOMPATIBLE', message, { details: { key }, ...(cause ? { cause } : {}) });
}

function lookingOnly(): LeaseError {
  return new LeaseError('INVALID_ARGUMENT', 'the store was opened for looking only: connect to it without readOnly');
}
