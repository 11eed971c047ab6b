// Telling listeners (S12): each for itself. What one of them throws is its own affair: it ends neither the process nor the telling,
// and nothing may rest on having been told. One that an earlier one has sent away is not told any more.

export function tellEach<T>(listeners: ReadonlySet<T>, what: (listener: T) => void): void {
  for (const listener of [...listeners]) {
    if (!listeners.has(listener)) continue;
    try {
      what(listener);
    } catch {
      // Whoever wants to know of it catches it there.
    }
  }
}
