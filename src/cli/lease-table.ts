// The table of leases that `ls` and `revoke` print: one row each where it fits, with times or, where that is too wide, with
// ages; then the name on a line of its own; on the narrowest terminals in words.
import type { LeaseView } from './lease-view.js';
import type { Output } from './output.js';
import { fitted, type Column } from './table.js';

export function leaseTable(views: readonly LeaseView[], output: Output, title = 'RESOURCE'): string[] {
  const left = {
    title: 'LEFT',
    isRight: true,
    of: (view: LeaseView) => view.left,
    paint: (view: LeaseView, cell: string) => (view.isSilent ? output.paint('red', cell) : cell),
  };
  const name: Column<LeaseView> = { title, of: (view) => view.name };
  const who: Column<LeaseView>[] = [
    { title: 'MODE', of: (view) => view.mode },
    { title: 'OWNER', of: (view) => view.owner },
    { title: 'EPOCH', of: (view) => view.epoch },
  ];
  const renewed = (title: string, more: string): Column<LeaseView> => ({
    title,
    isRight: true,
    of: (view) => (view.renewed === '-' ? '-' : view.renewed + more),
  });
  const queue: Column<LeaseView> = { title: 'QUEUE', isRight: true, of: (view) => view.queue };
  const since: Column<LeaseView> = { title: 'HELD SINCE', of: (view) => view.since };
  const age: Column<LeaseView> = { title: 'HELD', isRight: true, of: (view) => view.age };
  const roomy = [since, renewed('RENEWED', ' ago'), left, queue];
  const tight = [age, renewed('RENEWED', ''), left, queue];
  const above = (view: LeaseView): string => view.name;
  return fitted(
    views,
    [
      { columns: [name, ...who, ...roomy] },
      { columns: [name, ...who, ...tight] },
      { columns: [...who, ...roomy], above },
      { columns: [...who, ...tight], above },
    ],
    inWords,
    output.width,
    (line) => output.paint('bold', line),
  );
}

function inWords(view: LeaseView): string[] {
  if (view.mode === 'waiting') return [view.name, `${view.owner} waits`, `for ${view.age}`, `place ${view.queue}`];
  return [
    view.name,
    `${view.mode} by ${view.owner}`,
    `epoch ${view.epoch}`,
    `held ${view.age}`,
    `renewed ${view.renewed} ago`,
    `${view.left} left`,
    `queue ${view.queue}`,
  ];
}
