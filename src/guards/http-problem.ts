// A refused request as problem+json (RFC 9457), with the code of the LeaseError and, for a stale epoch, both epochs.
import type { LeaseError, LeaseErrorCode } from '../domain/errors.js';

const STATUS: Partial<Record<LeaseErrorCode, number>> = {
  INVALID_ARGUMENT: 400,
  STALE_EPOCH: 412,
  LEASE_LOST: 412,
  RATE_LIMITED: 429,
  FORBIDDEN: 403,
};
const RETRY_AFTER_SECONDS = '1';

export function problem({ code, message, retryable, details }: LeaseError): Response {
  const given = details['status'];
  const status = typeof given === 'number' ? given : (STATUS[code] ?? 503);
  const { current, attempted, resource } = details;
  const body = {
    type: 'about:blank',
    title: code,
    status,
    detail: message,
    code,
    retryable,
    current,
    attempted,
    resource,
  };
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' };
  if (retryable) headers['retry-after'] = RETRY_AFTER_SECONDS;
  return new Response(JSON.stringify(body), { status, headers });
}
