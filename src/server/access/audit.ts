// Who did what through which token: one structured log line for every change that went through the server, whatever came of
// it. It names the token by id and name, never by its secret.
import type { Logger } from '../../observe/logger.js';
import type { Caller } from '../context.js';

export interface AuditFacts {
  /** `acquire`, `release`, `token.create` … */
  readonly operation: string;
  readonly leaseId?: string | undefined;
  readonly resource?: string | undefined;
  readonly owner?: string | undefined;
  readonly outcome: string;
  /** What else is worth keeping; never a body as it came. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

export function audit(logger: Logger, caller: Caller, facts: AuditFacts): void {
  const { tokenId, name } = caller;
  logger.info({ audit: true, tokenId, tokenName: name, ...facts }, `${facts.operation}: ${facts.outcome}`);
}
