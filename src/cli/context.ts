// What a command works with: its common options, its output, and the store, opened on first use and closed at the end.
// A short command starts no services. One that only looks opens the store without the right to change it: nothing is
// created, migrated or written.
import { hostname, userInfo } from 'node:os';
import type { Clock } from '../domain/clock.js';
import type { Holdfast } from '../holdfast.js';
import type { Store } from '../stores/store.js';
import { systemClock } from '../system-clock.js';
import { EXIT, usage } from './exit-codes.js';
import type { GlobalOptions } from './global-options.js';
import { tell, type Output } from './output.js';

/** A value, and where it came from. */
export interface Chosen {
  readonly value: string;
  readonly from: string;
}

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

export class Context {
  readonly output: Output;
  readonly clock: Clock = systemClock();
  /** The arguments as they were typed, without node and the program. */
  readonly argv: readonly string[];
  readonly version: () => string;
  exitCode: number = EXIT.ok;
  #options: GlobalOptions = {};
  #leases: Promise<Holdfast> | undefined;
  readonly #closers: (() => Promise<void>)[] = [];
  #interrupt: AbortSignal | undefined;

  constructor(output: Output, argv: readonly string[], version: () => string) {
    this.output = output;
    this.argv = argv;
    this.version = version;
  }

  use(options: GlobalOptions): void {
    this.#options = options;
  }

  get isJson(): boolean {
    return this.#options.json === true;
  }
  get isVerbose(): boolean {
    return this.#options.verbose === true;
  }

  /** `token`: the owner that the token of an open store is bound to. */
  owner(token?: string): Chosen {
    const given = chosen(this.#options.owner, '--owner', 'HOLDFAST_OWNER');
    if (given) return given;
    return token === undefined ? { value: userAtHost(), from: 'user and host' } : { value: token, from: 'the token' };
  }
  namespace(): Chosen {
    const given = chosen(this.#options.namespace, '--namespace', 'HOLDFAST_NAMESPACE');
    return given ?? { value: 'default', from: 'default' };
  }
  async store(): Promise<Chosen> {
    const given = chosen(this.#options.store, '--store', 'HOLDFAST_STORE');
    if (given && /^memory:/i.test(given.value)) throw usage('memory: ends with the command: name a file, sqlite:/path');
    if (given) return given;
    const { userStoreUrl } = await import('../stores/open-store.js');
    return { value: userStoreUrl(), from: "the user's state directory" };
  }

  /** Nobody named a store: it is the user's own, whose directory is made with it. */
  get isOwnStore(): boolean {
    return chosen(this.#options.store, '--store', 'HOLDFAST_STORE') === undefined;
  }

  /** The store to serve: a store in memory is the server's own affair, and a new one of this user gets its directory. */
  async serverStore(): Promise<string> {
    const given = chosen(this.#options.store, '--store', 'HOLDFAST_STORE');
    if (given) return given.value;
    const { defaultStoreUrl } = await import('../stores/open-store.js');
    return defaultStoreUrl();
  }

  /** For commands that change something. */
  open(): Promise<Holdfast> {
    return (this.#leases ??= this.#open());
  }

  /** For commands that only look. */
  look(): Promise<Holdfast> {
    return (this.#leases ??= this.#look());
  }

  async #open(): Promise<Holdfast> {
    const { value: url } = await this.store();
    if (isServer(url)) {
      const leases = await this.#look(); // what may be changed there is the token's affair
      this.#closers.push(() => leases.shutdown());
      return leases;
    }
    await this.#sayWhich();
    const { connect } = await import('../connect.js');
    const leases = await connect(this.isOwnStore ? undefined : url, {
      namespace: this.namespace().value,
      owner: this.owner().value,
      services: 'off',
      clock: this.clock,
    });
    this.#closers.push(() => leases.shutdown());
    return leases;
  }

  async #look(): Promise<Holdfast> {
    const store = await this.lookStore();
    const { connect } = await import('../connect.js');
    return connect(store, { owner: this.owner(store.actsAs).value, services: 'off', clock: this.clock });
  }

  /** The store itself, for looking only. */
  async lookStore(): Promise<Store> {
    const { value: url } = await this.store();
    await this.#sayWhich();
    const { openStore } = await import('../stores/open-store.js');
    const { checkNamespace } = await import('../domain/check-request.js');
    const namespace = checkNamespace(this.namespace().value);
    const { clock, isOwnStore: isFolderMade } = this;
    const looking = { migrate: 'check', readOnly: true, isFolderMade } as const;
    const store = await openStore(url, { clock, namespace, ...looking, ...tokenFor(url) });
    this.#closers.push(() => store.close());
    return store;
  }

  async #sayWhich(): Promise<void> {
    if (!this.isVerbose) return;
    const { withoutSecrets } = await import('../stores/open-store.js');
    const [store, namespace, owner] = [await this.store(), this.namespace(), this.owner()];
    tell(
      `store ${withoutSecrets(store.value)} (${store.from}), namespace ${namespace.value} (${namespace.from}), ` +
        `owner ${owner.value} (${owner.from})`,
    );
  }

  /** Aborts when the command is told to end, or nobody reads what it says; the exit code is set to match. */
  interrupt(): AbortSignal {
    if (this.#interrupt) return this.#interrupt;
    const controller = new AbortController();
    for (const [name, number] of Object.entries(SIGNAL_NUMBERS)) {
      process.once(name, () => {
        this.exitCode = 128 + number;
        controller.abort();
      });
    }
    this.#interrupt = AbortSignal.any([controller.signal, this.output.gone]);
    return this.#interrupt;
  }

  /** Something to be closed at the end, after what was opened later. */
  onClose(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
    this.#leases = undefined;
  }
}

/** A token is for servers, and goes nowhere else. */
function tokenFor(url: string): { token?: string } {
  const { HOLDFAST_TOKEN: token } = process.env;
  return token !== undefined && token !== '' && isServer(url) ? { token } : {};
}

function isServer(url: string): boolean {
  return /^https?:/i.test(url);
}

function chosen(option: string | undefined, flag: string, variable: string): Chosen | undefined {
  if (option !== undefined) return { value: option, from: flag };
  const value = process.env[variable];
  return value === undefined || value === '' ? undefined : { value, from: variable };
}

/** A label that stays the same from one command to the next, so that `release` finds what `acquire` took. */
function userAtHost(): string {
  const plain = (text: string): string => text.replace(/[^A-Za-z0-9._-]/g, '').slice(0, 60);
  const user = plain(userName());
  const host = plain(hostname());
  return `${user === '' ? 'user' : user}@${host === '' ? 'host' : host}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid${process.getuid?.() ?? ''}`; // a user id without an entry, as containers have
  }
}
