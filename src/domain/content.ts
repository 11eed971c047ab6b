// S8: "other content under a known id". A 53-bit hash of everything an acquire asks for, kept with the id, so that a
// repeat is recognised after the lease has been renewed, delegated or upgraded. It guards against mistakes, not attacks.
// Fields are divided by line ends, which no checked text can hold: one field cannot pass for two.
import type { AcquireRequest } from './requests.js';

export function contentOf(request: AcquireRequest, metadataText: string | undefined): number {
  let text = request.owner;
  for (const part of request.parts)
    text += `\n${part.name}${part.mode[0] ?? ''}${part.scope[0] ?? ''}${part.limit ?? ''}`;
  text += `\n${request.ttlMs}\n${request.priority}\n${request.maxRenewals}\n${request.maxHoldMs ?? ''}\n${request.minHoldMs}`;
  text += `\n${request.lockDelayMs}\n${request.reclaim ? 'r' : ''}\n${request.holding.length > 0 ? request.holding.join() : ''}`;
  if (request.upgrades) text += `\nu${request.upgrades.id}`;
  if (request.operationId !== undefined) text += `\no${request.operationId}`;
  if (metadataText !== undefined) text += `\nm${metadataText}`;
  return hash53(text);
}

/** Two 32-bit multiply-and-xor lanes, joined to a safe integer that is never 0. */
export function hash53(text: string): number {
  let high = 0x9e3779b1;
  let low = 0x85ebca77;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0xcc9e2d51);
    low = Math.imul(low ^ unit, 0x1b873593);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return (high & 0x1fffff) * 0x100000000 + (low >>> 0) || 1;
}
