// Where an event stands in the log (H1), and rows of the log that hold many.
//
// A place is (e, s). e is the namespace's epoch when the event was written, or the one it drew itself; s is drawn from log_row, which counts
// in steps of LIST_PLACES. A list of grants or releases draws one s, and its events have that place and the ones after it, all under the
// e of the last of them: nobody else can have a place in between. They are kept together, as arrays, LIST_ROW of them a row
// (docs/decisions/0032). Any other row is one event.

/** As many as a batch has items at the most (S18). */
const LIST_PLACES = 256;
/** So few that a reader who wants one of them has not much to take apart. */
export const LIST_ROW = 64;
const STEPS = Math.log2(LIST_PLACES);

/** Draws a place, and those after it that a list needs. */
export const NEXT_PLACE = `(nextval('{s}.log_row') << ${STEPS})`;
/** The last place that anybody may have who drew a number up to this one. */
export const lastPlaceOf = (number: string): string => `(${number} << ${STEPS} | ${LIST_PLACES - 1})`;
/** The number that was drawn for a place. */
export const numberOf = (place: string): string => `(${place} >> ${STEPS})`;

/** Where a row of the log ends. */
export const endOf = (row: string): string => `${row}.s + coalesce(${row}.list_count, 1) - 1`;
/** Where the row begins that a place may be in the middle of. */
export const beginOf = (place: string): string => `${place} - ${place} % ${LIST_ROW}`;

/** What is the same for all of a list, or NULL: then each has its own. */
export const oneForAll = (values: string): string => `CASE WHEN ${values}[1] = ALL (${values}) THEN ${values}[1] END`;

/** Writes the events of the items from `first` to `last` of a list: `columns` are the facts they share, arrays those of each. `owner` and
 *  `n1` are one for all, or NULL. */
export function writeList(list: {
  readonly first: string;
  readonly last: string;
  readonly columns: string;
  readonly values: string;
  readonly place: string;
  readonly owner: string;
  readonly owners: string;
  readonly ids: string;
  readonly names: string;
  readonly epochs: string;
  readonly n1: string;
  readonly n1s: string;
}): string {
  const { first, last, owner, n1 } = list;
  const each = (values: string): string => `${values}[b.first:b.last]`;
  return `INSERT INTO {s}.log (ns, ${list.columns}, s, owner, n1, list_count, list_owners, list_n1, list_ids, list_names, list_epochs)
          SELECT v_ns, ${list.values}, ${list.place} + b.first - ${first}, ${owner}, ${n1}, b.last - b.first + 1,
            CASE WHEN ${owner} IS NULL THEN ${each(list.owners)} END, CASE WHEN ${n1} IS NULL THEN ${each(list.n1s)} END,
            ${each(list.ids)}, ${each(list.names)}, ${list.epochs}
          FROM (SELECT i AS first, least(i + ${LIST_ROW - 1}, ${last}) AS last FROM generate_series(${first}, ${last}, ${LIST_ROW}) i) b;`;
}
