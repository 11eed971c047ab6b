// Calls of which the later must not come before the earlier: each begins when the one before it is answered, however that went. A call that
// is asked again for want of an answer would otherwise undo what was written after it.

export class InOrder {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(call: () => Promise<T>): Promise<T> {
    const own = this.#last.then(call);
    this.#last = own.catch(() => undefined);
    return own;
  }
}
