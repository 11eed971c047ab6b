// Path-like names as a tree, flattened into the rows of a table. A lease of a subtree is seen over everything below it: rows
// under it say who covers them. Folders with nothing of their own and one way down are told in one row: `repo/src/api`.
import type { LeaseRecord } from '../../api/types.js';

export interface TreeRow {
  readonly key: string;
  /** The whole name; what is shown is `label`. */
  readonly name: string;
  readonly label: string;
  readonly depth: number;
  /** The one lease of this row, or the one ticket where nobody holds it. Several holders have a row each, below it. */
  readonly record: LeaseRecord | undefined;
  readonly holders: number;
  readonly waiting: number;
  /** Leases and tickets further down. */
  readonly below: number;
  readonly isOpen: boolean | undefined;
  /** The lease of a subtree that this row lies under. */
  readonly cover: Cover | undefined;
}

export interface Cover {
  readonly lease: LeaseRecord;
  /** Of the row that has the lease. */
  readonly depth: number;
}

interface Node {
  readonly name: string;
  readonly children: Map<string, Node>;
  readonly records: LeaseRecord[];
  below: number;
}

/** Whether a folder is open; the caller remembers what was clicked. */
export type IsOpen = (name: string, depth: number) => boolean;

export function treeRows(records: readonly LeaseRecord[], isOpen: IsOpen): TreeRow[] {
  const rows: TreeRow[] = [];
  addChildren(rows, treeOf(records), '', 0, undefined, isOpen);
  return rows;
}

function treeOf(records: readonly LeaseRecord[]): Node {
  const root: Node = newNode('');
  for (const record of records) {
    for (const { name } of record.parts) {
      let node = root;
      for (let at = nextCut(name, 0); ; at = nextCut(name, at + 1)) {
        const path = name.slice(0, at);
        let child = node.children.get(path);
        if (!child) node.children.set(path, (child = newNode(path)));
        node.below += 1;
        node = child;
        if (at === name.length) break;
      }
      node.records.push(record);
    }
  }
  return root;
}

/** Where the segment that begins here ends. */
function nextCut(name: string, from: number): number {
  const at = name.indexOf('/', from);
  return at === -1 ? name.length : at;
}

function newNode(name: string): Node {
  return { name, children: new Map(), records: [], below: 0 };
}

function addChildren(
  rows: TreeRow[],
  parent: Node,
  above: string,
  depth: number,
  cover: Cover | undefined,
  isOpen: IsOpen,
): void {
  for (const child of [...parent.children.values()].sort(byName))
    addNode(rows, folded(child), above, depth, cover, isOpen);
}

/** The end of a way that has no branches and holds nothing. */
function folded(node: Node): Node {
  let end = node;
  while (end.records.length === 0 && end.children.size === 1) {
    const [only] = end.children.values();
    if (!only) break;
    end = only;
  }
  return end;
}

function addNode(
  rows: TreeRow[],
  node: Node,
  above: string,
  depth: number,
  cover: Cover | undefined,
  isOpen: IsOpen,
): void {
  const { name, records, children, below } = node;
  const holders = records.filter(({ status }) => status === 'active');
  const counts = { holders: holders.length, waiting: records.length - holders.length, below };
  const hasMore = children.size > 0 || holders.length > 1;
  const open = hasMore ? isOpen(name, depth) : undefined;
  const label = above === '' ? name : name.slice(above.length + 1);
  const record = holders.length === 1 || records.length === 1 ? (holders[0] ?? records[0]) : undefined;
  rows.push({ key: name, name, label, depth, record, ...counts, isOpen: open, cover });
  if (open !== true) return;
  for (const one of holders.length > 1 ? holders : []) {
    const none = { holders: 0, waiting: 0, below: 0, isOpen: undefined };
    rows.push({ key: `${name}\n${one.id}`, name, label: '', depth: depth + 1, record: one, ...none, cover });
  }
  const own = holders.find(({ parts }) => parts.some((part) => part.name === name && part.scope === 'subtree'));
  addChildren(rows, node, name, depth + 1, own ? { lease: own, depth } : cover, isOpen);
}

function byName(a: Node, b: Node): number {
  return a.name < b.name ? -1 : 1;
}
