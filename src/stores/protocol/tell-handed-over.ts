// Who was handed a lease is told so, or, where it does not listen for that, woken: asking again answers the same (S8).
import type { HandedOver, StoreListener } from '../store.js';

export function tellHandedOver(listener: StoreListener, lease: HandedOver): void {
  if (listener.handedOver) listener.handedOver(lease);
  else listener.wake?.([lease.id]);
}
