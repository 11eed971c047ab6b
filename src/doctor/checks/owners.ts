// Causes that show in who held what: owners that compete, a partition, a restarted twin.
//
// A message that comes too late changes nothing and leaves nothing in the log (S5). That an owner came back is seen by what it
// did next: it was heard of after its lease had run out. Owners named by `connect` are one running instance each, so for them
// this proves that the process had lived on; for names given by hand it may also be the next process of that name.
import type { Lease } from '../../domain/lease.js';
import { windowOf, type Facts } from '../facts.js';
import { finding, type Finding } from '../finding.js';
import { expiryOf, grantsByName, isInstanceName, isReclaimed, isTaken, lastHeard, type Grant } from '../grants.js';
import { count, duration, typed } from '../words.js';

/** Changes of owner within the window that were no hand-over: one is a failover, two may be a bad night, three are a fight. */
const FIGHT = 3;
/** Hand-overs by release that are worth a word. */
const BUSY = 20;
/** Two skews of one name this far apart are two machines: what a busy network adds is less. */
const TWO_MACHINES_MS = 1_000;

export function ownersCompeting(facts: Facts): Finding[] {
  const { now } = facts;
  return [...grantsByName(facts)].flatMap(([resource, grants]) => {
    const changes = grants.slice(1).flatMap((grant, i) => {
      const before = grants[i] as Grant;
      return before.owner === grant.owner ? [] : [{ before, grant }];
    });
    const taken = changes.filter(({ before }) => isTaken(before));
    const owners = [...new Set(grants.map(({ owner }) => owner))];
    const evidence = taken.map(
      ({ before, grant }) =>
        `${duration(now - grant.at)} ago: ${before.owner} (epoch ${before.epoch}) ${how(before)}, then ${grant.owner} (epoch ${grant.epoch})`,
    );
    const next = `holdfast history ${typed(resource)} --since 5m`;
    const times = `changed owner ${count(changes.length, 'time')} in ${windowOf(facts)}, among ${count(owners.length, 'owner')}`;
    if (taken.length >= FIGHT) {
      const what = `${resource} ${times}; ${taken.length} times its holder had not let go`;
      return [finding('owners-competing', 'wrong', what, evidence, next)];
    }
    if (taken.length === FIGHT - 1) {
      const what = `${resource} ${times}; twice its holder had not let go`;
      return [finding('owners-competing', 'warning', what, evidence, next)];
    }
    if (changes.length < BUSY) return [];
    const what = `${resource} ${times}, handed over by release: fine for a lock that is taken for a moment, not for a partition or a leader`;
    return [finding('owners-competing', 'note', what, [owners.slice(0, 5).join(', ')], next)];
  });
}

function how({ end }: Grant): string {
  if (end?.type === 'lease.expired') return 'ran out';
  return `was revoked by ${end?.actor ?? 'somebody'}`;
}

export function partition(facts: Facts): Finding[] {
  const heard = lastHeard(facts);
  const found = [...grantsByName(facts)].flatMap(([resource, grants]) =>
    grants.flatMap((grant, i) => {
      const next = grants[i + 1];
      if (grant.end?.type !== 'lease.expired' || next === undefined || next.owner === grant.owner) return [];
      const ranOut = expiryOf(grant.end);
      const sign = heard.get(grant.owner);
      return sign === undefined || sign.at <= ranOut ? [] : [{ resource, grant, next, ranOut, sign: sign.text }];
    }),
  );
  const owners = [...new Set(found.map(({ grant }) => grant.owner))];
  return owners.map((owner) => {
    const mine = found.filter(({ grant }) => grant.owner === owner);
    const names = [...new Set(mine.map(({ resource }) => resource))];
    const evidence = mine.map(
      ({ resource, grant, next, ranOut, sign }) =>
        `${resource}: epoch ${grant.epoch} ran out ${duration(facts.now - ranOut)} ago, ${next.owner} has had it since with epoch ${next.epoch}; ${sign}`,
    );
    const proof = isInstanceName(owner)
      ? 'the name is of one running instance: it was cut off from the store, or stood still'
      : 'it was cut off, stood still, or was started anew under its name';
    const what = `${owner} lost ${names.slice(0, 3).join(', ')} to others and came back: ${proof}; what it still writes with its old epoch must be refused`;
    return finding('partition', 'wrong', what, evidence, `holdfast ls --owner ${typed(owner)} --status all`);
  });
}

export function restartedTwin(facts: Facts): Finding[] {
  return [...takenFromItself(facts), ...waitingForItself(facts), ...twoClocks(facts)];
}

/** Reclaimed once is a restart. Twice within the window: the first one lives, and takes it back. */
function takenFromItself(facts: Facts): Finding[] {
  const { now } = facts;
  return [...grantsByName(facts)].flatMap(([resource, grants]) => {
    const reclaimed = grants.filter(isReclaimed);
    const [first] = reclaimed;
    if (first === undefined) return [];
    const evidence = reclaimed.map(
      ({ owner, epoch, end }) => `${duration(now - (end?.at ?? now))} ago: epoch ${epoch} of ${owner} was reclaimed`,
    );
    const next = `holdfast history ${typed(resource)} --since 5m --type released`;
    if (reclaimed.length === 1) {
      const what = `${first.owner} was started anew and took ${resource} back from its own last life`;
      return [finding('restarted-twin', 'note', what, evidence, next)];
    }
    const what = `two processes go by the name ${first.owner} and take ${resource} from each other: ${reclaimed.length} times in ${windowOf(facts)}`;
    return [finding('restarted-twin', 'wrong', what, evidence, next)];
  });
}

function waitingForItself({ graph, resource }: Facts): Finding[] {
  return graph.tickets.flatMap((ticket) => {
    if (isInstanceName(ticket.owner)) return []; // two tasks of one process
    const own = ticket.waitsForLeases.find(({ id, owner }) => owner === ticket.owner && !ticket.holding.includes(id));
    if (own === undefined || (resource !== undefined && own.resource !== resource)) return [];
    const what = `${ticket.owner} waits for ${own.resource}, which ${ticket.owner} holds: two processes of one name, or one that asks twice`;
    const evidence = [`ticket ${ticket.id} waits for lease ${own.id}`];
    return [finding('restarted-twin', 'warning', what, evidence, `holdfast show ${typed(own.resource)}`)];
  });
}

function twoClocks({ leases, tickets }: Facts): Finding[] {
  const byOwner = new Map<string, Lease[]>();
  for (const lease of [...leases, ...tickets]) {
    const known = byOwner.get(lease.owner);
    if (known) known.push(lease);
    else byOwner.set(lease.owner, [lease]);
  }
  return [...byOwner].flatMap(([owner, all]) => {
    const skews = all.map(({ skewMs }) => skewMs);
    const [low, high] = [Math.min(...skews), Math.max(...skews)];
    if (high - low < TWO_MACHINES_MS) return [];
    const shown = all.filter(({ skewMs }) => skewMs === low || skewMs === high);
    const evidence = shown.map(({ parts, skewMs }) => `${parts[0]?.name ?? ''}: clock off by ${duration(skewMs)}`);
    const what = `${owner} holds and waits with two clocks ${duration(high - low)} apart: two machines of one name, or a clock that was just set`;
    return [finding('restarted-twin', 'warning', what, evidence, `holdfast ls --owner ${typed(owner)} --status all`)];
  });
}
