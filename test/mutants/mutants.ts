// The protocol broken on purpose, one way at a time (contract, section 12). Each mutant is a piece of text that stands exactly
// once in a file, what to put there instead, and the tests that must then fail. try-mutant.ts applies them to a copy.
//
// A mutant that no longer applies fails the run: whoever changes that code decides what the mutant has become.

export interface Mutant {
  readonly name: string;
  readonly rule: string;
  readonly file: string;
  readonly before: string;
  readonly after: string;
  /** Test files, cheapest first. They run the sources: what was built into dist/ is not broken with them. */
  readonly by: readonly string[];
}

const SIMULATION = ['test/simulation/simulation.test.ts'];
const MODEL = ['test/stores/memory.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'deadline from the reply',
    rule: 'S7',
    file: 'src/manager/held-lease.ts',
    before: 'this.#deadline = trustedUntil(sentAt, remainingMs, this.#lease.ttlMs);',
    after: 'this.#deadline = trustedUntil(this.#keeper.clock.monotonic(), remainingMs, this.#lease.ttlMs);',
    by: SIMULATION,
  },
  {
    name: 'deadline from the ttl instead of what remains',
    rule: 'S7',
    file: 'src/manager/held-lease.ts',
    before: 'this.#deadline = trustedUntil(sentAt, remainingMs, this.#lease.ttlMs);',
    after: 'this.#deadline = trustedUntil(sentAt, this.#lease.ttlMs, this.#lease.ttlMs);',
    by: SIMULATION,
  },
  {
    name: 'release without epoch',
    rule: 'S5',
    file: 'src/stores/protocol/hold.ts',
    before:
      "  if (!isTicket && row.epoch !== (request.epoch ?? row.grantEpoch)) return { outcome: 'stale', epoch: row.epoch };\n",
    after: '',
    by: MODEL,
  },
  {
    name: 'release that overtakes its acquire is forgotten',
    rule: 'S8',
    file: 'src/stores/protocol/hold.ts',
    before: '    step.rows.add(notedRow(step, request.id));\n',
    after: '',
    by: SIMULATION,
  },
  {
    name: 'renewal that revives',
    rule: 'S4',
    file: 'src/stores/protocol/hold.ts',
    before:
      '  if (!row || row.epoch !== request.epoch || !isLive(row, step.now)) return notHeld(step, row, request.epoch);\n  const ttlMs',
    after:
      "  if (!row || row.epoch !== request.epoch || row.status !== 'active') return notHeld(step, row, request.epoch);\n  const ttlMs",
    by: MODEL,
  },
  {
    name: 'renewal that shortens',
    rule: 'S4',
    file: 'src/domain/expiry.ts',
    before: 'const wanted = Math.max(lease.expiresAt, now + ttlMs);',
    after: 'const wanted = now + ttlMs;',
    by: MODEL,
  },
  {
    name: 'a lease is live at the very moment it expires',
    rule: 'S3',
    file: 'src/domain/expiry.ts',
    before: "return lease.status === 'active' && now < lease.expiresAt;",
    after: "return lease.status === 'active' && now <= lease.expiresAt;",
    by: MODEL,
  },
  {
    name: 'tickets that never die',
    rule: 'Q2',
    file: 'src/domain/expiry.ts',
    before: "return ticket.status === 'pending' && now < ticket.expiresAt;",
    after: "return ticket.status === 'pending';",
    by: SIMULATION,
  },
  {
    name: 'hand-off instead of claim: a release grants to whoever waits, there or not',
    rule: 'Q3',
    file: 'src/stores/protocol/transitions.ts',
    before: "  logChange(step, row, 'lease.released', 'active', 'released', data);\n",
    after: `  logChange(step, row, 'lease.released', 'active', 'released', data);
  const next = step.rows.overlapping(row.parts).find((one) => isWaiting(one, step.now));
  if (next) {
    step.space.epoch += 1;
    step.space.tickets -= 1;
    Object.assign(next, { status: 'active', epoch: step.space.epoch, grantEpoch: step.space.epoch });
    Object.assign(next, { acquiredAt: step.now, renewedAt: step.now, expiresAt: step.now + next.ttlMs });
    step.rows.save(next, 'whole');
    logChange(step, next, 'lease.acquired', 'pending', 'active', {});
  }
`,
    by: SIMULATION,
  },
  {
    name: 'a newcomer passes those who wait',
    rule: 'Q1',
    file: 'src/domain/queue-order.ts',
    before: 'export const LAST: Place = { rank: Infinity, arrival: Infinity };',
    after: 'export const LAST: Place = { rank: -Infinity, arrival: -Infinity };',
    by: MODEL,
  },
  {
    name: 'ties in the queue by who came last',
    rule: 'Q1',
    file: 'src/domain/queue-order.ts',
    before: '(a.rank === b.rank && a.arrival < b.arrival)',
    after: '(a.rank === b.rank && a.arrival > b.arrival)',
    by: MODEL,
  },
  {
    name: 'a subtree that does not see what is above it',
    rule: 'S1',
    file: 'src/domain/conflict.ts',
    before: "  return b.scope === 'subtree' && isAbove(b.name, a.name);\n",
    after: '  return false;\n',
    by: MODEL,
  },
  {
    name: 'one more than the limit',
    rule: 'S1',
    file: 'src/domain/conflict.ts',
    before: 'return holders.length + 1 > smallest ? holders : [];',
    after: 'return holders.length > smallest ? holders : [];',
    by: MODEL,
  },
  {
    name: 'parts granted one by one: only the first counts',
    rule: 'S10',
    file: 'src/domain/conflict.ts',
    before:
      'const direct = standing.filter((other) => parts.some((part) => other.parts.some((its) => conflicts(part, its))));',
    after:
      'const direct = standing.filter((other) => parts.slice(0, 1).some((part) => other.parts.some((its) => conflicts(part, its))));',
    by: MODEL,
  },
  {
    name: 'epoch reset on purge: the counter begins below what was drawn',
    rule: 'S2',
    file: 'src/domain/epoch.ts',
    before: 'return Math.max(last + 1, Math.floor(wallMs) * MICROS_PER_MS);',
    after: 'return Math.max(last, MICROS_PER_MS);',
    by: ['src/domain/epoch.test.ts', 'test/stores/sqlite.test.ts'],
  },
  {
    name: 'an epoch kept by a grant that follows another',
    rule: 'S2',
    file: 'src/stores/protocol/acquire.ts',
    before: '  step.space.epoch = epoch;\n',
    after: '  if (!ticket) step.space.epoch = epoch;\n',
    by: SIMULATION,
  },
  {
    name: 'wake-up lost: a release frees, and tells nobody',
    rule: 'Q3',
    file: 'src/stores/protocol/transitions.ts',
    before: "  logChange(step, row, 'lease.released', 'active', 'released', data);\n  step.freed.push(...row.parts);\n",
    after: "  logChange(step, row, 'lease.released', 'active', 'released', data);\n",
    by: MODEL,
  },
  {
    name: 'wake-up lost: one that overtakes the answer to its own question is for nobody',
    rule: 'Q3',
    file: 'src/manager/waiter.ts',
    before: '    else this.#isWoken = true;\n',
    after: '',
    by: ['src/manager/wait-room.test.ts'],
  },
  {
    name: 'a grant by an earlier copy of the question is taken with whatever it has left',
    rule: 'S7',
    file: 'src/manager/waiter.ts',
    before: 'const enoughMs = isLatest ? 0 : 2 * this.terms.requestTimeoutMs;',
    after: 'const enoughMs = 0;',
    by: ['src/manager/late-grant.test.ts'],
  },
  {
    name: 'a cancelled wait leaves its ticket',
    rule: 'S9',
    file: 'src/stores/protocol/hold.ts',
    before: "    failTicket(step, row, request.why === 'timeout' ? 'timeout' : 'cancelled');\n",
    after: '',
    by: MODEL,
  },
  {
    name: 'lock delay counted from when the expiry is written down',
    rule: 'Q6',
    file: 'src/domain/blocks.ts',
    before: "return (how === 'expired' ? row.expiresAt : now) + row.lockDelayMs;",
    after: 'return now + row.lockDelayMs;',
    by: MODEL,
  },
  {
    name: 'commit after expiry',
    rule: 'N2',
    file: 'src/stores/protocol/sequence/hold.ts',
    before: '  return row.epoch === epoch && isLiveSpan(row, now);\n',
    after: "  return row.epoch === epoch && row.state === 'leased';\n",
    by: MODEL,
  },
  {
    name: 'gap filled after it was read',
    rule: 'N4',
    file: 'src/stores/protocol/sequence/place.ts',
    before: '  if (!isOpen(row) && row.first > stream.seal) {\n',
    after: '  if (!isOpen(row)) {\n',
    by: MODEL,
  },
  {
    name: 'watermark that passes what is open',
    rule: 'N3',
    file: 'src/stores/protocol/sequence/look.ts',
    before: '  return (lowestOpen?.first ?? stream.next) - 1;\n',
    after: '  return stream.next - 1;\n',
    by: MODEL,
  },
  {
    name: 'two recoverers at once',
    rule: 'V1',
    file: 'src/stores/protocol/sequence/rows.ts',
    before:
      "  if (isOpen(row)) return Math.max(row.state === 'leased' ? row.expiresAt : 0, row.retryAt ?? 0, claimedUntil);\n",
    after: "  if (isOpen(row)) return Math.max(row.state === 'leased' ? row.expiresAt : 0, row.retryAt ?? 0);\n",
    by: MODEL,
  },
  {
    name: 'a settled claim that any recoverer may use',
    rule: 'V1',
    file: 'src/stores/protocol/sequence/recover.ts',
    before: 'return row && row.claim?.epoch === epoch && isClaimed(row, now) ? row.claim : undefined;',
    after: 'return row && isClaimed(row, now) ? row.claim : undefined;',
    by: MODEL,
  },
  {
    name: 'log position that skips a slow transaction (PostgreSQL)',
    rule: 'H1',
    file: 'src/stores/postgres/schema/looking.ts',
    before: '  ) bounds ORDER BY least_e, least_s LIMIT 1;\n',
    after: '  ) bounds ORDER BY least_e DESC, least_s DESC LIMIT 1;\n',
    by: ['test/stores/postgres-log.test.ts'],
  },
  {
    name: 'epoch repeated after a failover (PostgreSQL)',
    rule: 'S2',
    file: 'src/stores/postgres/schema/opening.ts',
    before: '      greatest(pg_sequence_last_value(v_row.epochs) + 1, {s}.clock_v1() * 1000)));\n',
    after: '      pg_sequence_last_value(v_row.epochs) + 1));\n',
    by: ['test/stores/postgres-life.test.ts'],
  },
  {
    name: 'a dump that was put back taken for the life it was made in (PostgreSQL)',
    rule: 'S2',
    file: 'src/stores/postgres/schema/locking.ts',
    before: ' AND f.born = f.xmin',
    after: '',
    by: ['test/stores/postgres-restore.test.ts'],
  },
  {
    name: 'names that are not locked (PostgreSQL)',
    rule: 'S16',
    file: 'src/stores/postgres/schema/locking.ts',
    before: '    toLock(names, seed, true),\n',
    after: '    toLock(names, seed, false),\n',
    by: ['test/stores/postgres-locks.test.ts', 'test/stores/linearizable.test.ts'],
  },
  {
    name: 'clock read before the lock (PostgreSQL)',
    rule: 'S16',
    file: 'src/stores/postgres/schema/single.ts',
    before: `  \${lockName('pg_advisory_xact_lock(hashtextextended(p_id, v_seed + 1))')}
  SELECT n.id, n.epochs, n.keep_history, n.settings_version, f.incarnation, \${WALL}, pg_sequence_last_value(n.epochs)
`,
    after: `  v_wall := \${WALL};
  \${lockName('pg_advisory_xact_lock(hashtextextended(p_id, v_seed + 1))')}
  SELECT n.id, n.epochs, n.keep_history, n.settings_version, f.incarnation, v_wall, pg_sequence_last_value(n.epochs)
`,
    by: ['test/stores/postgres-locks.test.ts'],
  },
  {
    name: 'locks and look in one statement (PostgreSQL)',
    rule: 'S16',
    file: 'src/stores/postgres/schema/single.ts',
    before: `  \${lockName('pg_advisory_xact_lock(hashtextextended(p_id, v_seed + 1))')}
  SELECT n.id, n.epochs, n.keep_history, n.settings_version, f.incarnation, \${WALL}, pg_sequence_last_value(n.epochs)
    INTO v_ns, v_epochs, v_logs, v_version, v_incarnation, v_wall, v_last
    FROM {s}.namespace n, {s}.life f
`,
    after: `  v_done := num_nulls(pg_advisory_xact_lock(hashtextextended(p_id, v_seed + 1)));
  WITH locked AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared(hashtextextended(a, v_seed))::text FROM unnest({s}.above_v1(p_name)) a
    UNION ALL SELECT pg_advisory_xact_lock(hashtextextended(p_name, v_seed))::text)
  SELECT n.id, n.epochs, n.keep_history, n.settings_version, f.incarnation, \${WALL}, pg_sequence_last_value(n.epochs)
    INTO v_ns, v_epochs, v_logs, v_version, v_incarnation, v_wall, v_last
    FROM (SELECT count(*) FROM locked) l, {s}.namespace n, {s}.life f
`,
    by: ['test/stores/postgres-locks.test.ts', 'test/stores/linearizable.test.ts'],
  },
  {
    name: 'epoch repeated after a failover (Redis)',
    rule: 'S2',
    file: 'src/stores/redis/lua/step.ts',
    before: 'if ${WALL_US} > epoch then epoch = ${WALL_US} else epoch = math.min(epoch + 1, 9007199254740991) end',
    after: 'epoch = math.min(epoch + 1, 9007199254740991)',
    by: ['test/stores/redis-life.test.ts', 'test/faults/redis-failover.test.ts'],
  },
  {
    name: 'check before write instead of guard (SQLite)',
    rule: 'G2',
    file: 'src/guards/sqlite-fence.ts',
    before: '  sql.lock.run();\n',
    after: '',
    by: ['src/guards/sqlite-guard.test.ts', 'test/guards/gates.test.ts'],
  },
  {
    name: 'check before write instead of guard (PostgreSQL)',
    rule: 'G1',
    file: 'src/guards/postgres-guard.ts',
    before: '\n       FOR KEY SHARE OF l`,\n',
    after: '`,\n',
    by: ['test/guards/postgres-guard.test.ts'],
  },
  {
    name: 'a refusal that names who waits as who holds',
    rule: 'Q1',
    file: 'src/domain/decide.ts',
    before: '    holderCount: verdict.leases.length,\n',
    after: '    holderCount: verdict.leases.length + verdict.tickets.length,\n',
    by: ['test/stores/linearizable.test.ts'],
  },
  {
    name: 'a grant that lives longer than it says',
    rule: 'S7',
    file: 'src/domain/expiry.ts',
    before: '  return now + Math.min(ttlMs, maxHoldMs ?? Infinity);\n',
    after: '  return now + Math.min(ttlMs + 1, maxHoldMs ?? Infinity);\n',
    by: ['test/stores/linearizable.test.ts'],
  },
  {
    name: 'a claim that passes those ahead of it (Redis)',
    rule: 'Q1',
    file: 'src/stores/redis/lua/acquire-plain.ts',
    before: 'if holder or (first and not (ticket and first == ticketAt(name, arrivedAt, arrived) .. id)) then',
    after: 'if holder or (first and not ticket) then',
    by: ['test/stores/redis-line.test.ts'],
  },
  {
    name: 'a claim that passes those ahead of it (PostgreSQL)',
    rule: 'Q1',
    file: 'src/stores/postgres/schema/line.ts',
    before: 'IF v_holders + v_ahead = 0 THEN',
    after: 'IF v_holders = 0 THEN',
    by: ['test/stores/postgres-programs.test.ts'],
  },
  {
    name: 'a line remembered as it was (SQLite)',
    rule: 'Q1',
    file: 'src/stores/sqlite/sql-rows.ts',
    before: '    this.#writer.save(row, changed);\n    this.#space.crowds.follow(row);\n',
    after: '    this.#writer.save(row, changed);\n',
    by: ['test/stores/sqlite-programs.test.ts'],
  },
  {
    name: 'a list that looks at nobody who stands there (Redis)',
    rule: 'S1',
    file: 'src/stores/redis/lua/acquire-list.ts',
    before: 'if isTaken[ARGV[i]] then isFree = false break end',
    after: 'if isTaken[ARGV[i]] then break end',
    by: ['test/stores/redis-plain-lists.test.ts'],
  },
  {
    name: 'a release that believes its sender (Redis)',
    rule: 'S5',
    file: 'src/stores/redis/lua/end-list.ts',
    before: 'if not text or find(text, ARGV[begins + i], 1, true) ~= 1 then isAsBelieved = false break end',
    after: 'if not text then isAsBelieved = false break end',
    by: ['test/stores/redis-plain-lists.test.ts'],
  },
  {
    name: 'a request alone that looks at nobody who waits (Redis)',
    rule: 'Q1',
    file: 'src/stores/redis/lua/one-item.ts',
    before: 'isNext = not first and age <= 60000',
    after: 'isNext = age <= 60000',
    by: ['test/stores/redis-one-item.test.ts'],
  },
  {
    name: 'a claim alone that is not of the first in line (Redis)',
    rule: 'Q1',
    file: 'src/stores/redis/lua/one-item.ts',
    before: "and first == string.format('w%s\\0%014.0f%016.0f%s', name, arrivedAt, arrived, id)",
    after: '',
    by: ['test/stores/redis-one-item.test.ts'],
  },
  {
    name: 'what was handed over is believed in from when it was heard of',
    rule: 'S7',
    file: 'src/manager/waiter.ts',
    before: "    this.#finish({ outcome: 'granted', lease, answer });",
    after: "    this.#finish({ outcome: 'granted', lease, answer: { ...answer, sentAt: this.#room.monotonic() } });",
    by: ['src/manager/hand-over.test.ts'],
  },
  {
    name: 'what was handed over is believed in for its ttl',
    rule: 'S7',
    file: 'src/manager/waiter.ts',
    before: 'remainingMs: Math.min(this.#ticket.remainingMs, livesMs)',
    after: 'remainingMs: 2 * this.request.ttlMs',
    by: ['src/manager/hand-over.test.ts'],
  },
  {
    name: 'what was handed over is not renewed before its time',
    rule: 'A5',
    file: 'src/manager/held-lease.ts',
    before: 'this.#renewDue = this.#keeper.clock.monotonic() + HANDED_OVER_RENEWED_MS;',
    after: 'this.#renewDue = this.#deadline;',
    by: ['src/manager/hand-over.test.ts'],
  },
  {
    name: 'what is handed over lives longer than its ticket would have',
    rule: 'Q2',
    file: 'src/stores/protocol/hand-over.ts',
    before: 'Math.min(step.now + ticket.ttlMs, expiresAt)',
    after: 'step.now + ticket.ttlMs',
    by: MODEL,
  },
  {
    name: 'who was handed a lease and asks again is told no more than that',
    rule: 'Q1',
    file: 'src/stores/protocol/acquire.ts',
    before: '    if (livesAsTicket(row)) renewRow(step, row, { until: step.now + row.ttlMs, callerWall });\n',
    after: '',
    by: MODEL,
  },
  {
    name: 'a release alone that hands over to who did not leave it to others (Redis)',
    rule: 'Q1',
    file: 'src/stores/redis/lua/one-item.ts',
    before: '(%d+) (%d+) 0 h\\n0',
    after: '(%d+) (%d+) 0 h?\\n0',
    by: ['test/stores/redis.test.ts'],
  },
  {
    name: 'a release alone that wakes one who has died (Redis)',
    rule: 'Q3',
    file: 'src/stores/redis/lua/one-item.ts',
    before: "if not nextId or not (${isBefore('nowText', 'diesAt')}) then released = nil end",
    after: '',
    by: ['test/stores/redis-one-item.test.ts'],
  },
  {
    name: 'a request alone that takes any server for the one it knew (Redis)',
    rule: 'S2',
    file: 'src/stores/redis/lua/one-item.ts',
    before: 'if found == string.match(rest,',
    after: 'if found or string.match(rest,',
    by: ['test/stores/redis-life.test.ts'],
  },
  {
    name: 'a call alone that tells nobody who watches (Redis)',
    rule: 'H1',
    file: 'src/stores/redis/lua/one-item.ts',
    before: "if watched ~= '0' and not (${isBefore('watched', 'nowText')}) then ${TELL_CHANGE} end",
    after: '',
    by: ['test/stores/redis-one-item.test.ts'],
  },
  {
    name: 'an answer to a release before whose turn it is hears of it (Redis)',
    rule: 'Q3',
    file: 'src/stores/redis/open-link.ts',
    before: 'if (script.tellsFirst) answerLast(adapter);',
    after: '',
    by: ['test/stores/redis-hints.test.ts'],
  },
  {
    name: 'a plan of a call alone that may read the whole table (PostgreSQL)',
    rule: 'S18',
    file: 'src/stores/postgres/schema/single.ts',
    before: '${inTurn(...PLAN_QUICKLY, SPACE,',
    after: '${inTurn(SPACE,',
    by: ['test/stores/postgres-short-ways.test.ts'],
  },
  {
    name: 'a page of the log that is taken for full too early (PostgreSQL)',
    rule: 'H1',
    file: 'src/stores/postgres/schema/looking.ts',
    before: '(NOT v_any_event OR found.before <= p_limit + ${LIST_ROW})',
    after: '(NOT v_any_event OR found.before <= 0)',
    by: ['test/stores/postgres-log-lists.test.ts'],
  },
  {
    name: 'a row of the log that is pruned as a whole where some of it must stay (PostgreSQL)',
    rule: 'H4',
    file: 'src/stores/postgres/schema/keeping.ts',
    before: 'IF v_to < v_row.last THEN',
    after: 'IF v_to < v_row.s THEN',
    by: ['test/stores/postgres-log-lists.test.ts'],
  },
  {
    name: 'a known id that ends its whole list in an error (PostgreSQL)',
    rule: 'S8',
    file: 'src/stores/postgres/postgres-store.ts',
    before: 'saysKnownId(error) ? encodePlain(items, true) : undefined',
    after: 'saysKnownId(error) ? encodePlain(items, false) : undefined',
    by: ['test/stores/postgres-log-lists.test.ts'],
  },
  {
    name: 'a refusal that a clock set back undoes (PostgreSQL)',
    rule: 'S13',
    file: 'src/stores/postgres/schema/sequence-parts.ts',
    before: 'UPDATE {s}.span y SET lapsed = true WHERE',
    after: 'UPDATE {s}.span y SET lapsed = false WHERE',
    by: ['test/stores/postgres-sequence-transactions.test.ts'],
  },
  {
    name: 'a hint in the channel of somebody else (Redis)',
    rule: 'Q3',
    file: 'src/stores/redis/lua/hold.ts',
    before: "found[owner] = found[owner] and found[owner] .. ' ' .. id or id",
    after: 'found[id] = id',
    by: ['test/stores/redis-hints.test.ts'],
  },
  {
    name: 'a hint of a release alone in the channel of somebody else (Redis)',
    rule: 'Q3',
    file: 'src/stores/redis/lua/one-item.ts',
    before: "tellOwner('nextOwner', 'told')",
    after: "tellOwner('nextId', 'told')",
    by: ['test/stores/redis-hints.test.ts'],
  },
  {
    name: 'a revocation that looks before it locks and not again (PostgreSQL)',
    rule: 'S16',
    file: 'src/stores/postgres/schema/governing.ts',
    before: 'v_ids := v_ids || v_new;',
    after: '',
    by: ['test/stores/postgres-revoke.test.ts'],
  },
];

/** Named in the plan of the proof: each is the beginning of a mutant's name. */
export const ASKED = [
  'deadline from the reply',
  'deadline from the ttl instead of what remains',
  'release without epoch',
  'release that overtakes its acquire',
  'renewal that revives',
  'renewal that shortens',
  'tickets that never die',
  'hand-off instead of claim',
  'check before write instead of guard',
  'clock read before the lock',
  'locks and look in one statement',
  'epoch reset on purge',
  'epoch repeated after a failover',
  'wake-up lost',
  'parts granted one by one',
  'log position that skips',
  'gap filled after it was read',
  'two recoverers at once',
] as const;
