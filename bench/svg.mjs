// Bar charts as plain SVG text: groups of bars on a logarithmic or linear axis, with its title, labels, grid and key. On a card of
// its own colour, light or dark as the reader's system asks, so that it can be read wherever it is shown.

const [WIDTH, LABELS, RIGHT, TOP, BAR, GAP] = [880, 250, 96, 78, 13, 10];
const PLOT = WIDTH - LABELS - RIGHT;
const BOTTOM = 44;
const STYLE = `
  .card { fill: #ffffff; } text { fill: #1f2328; font: 12px system-ui, sans-serif; } .title { font-size: 15px; font-weight: 600; }
  .ours { font-weight: 700; } .quiet { fill: #59636e; } .grid { stroke: #d1d9e0; } .line { stroke: #b35900; stroke-dasharray: 4 3; }
  .s0 { fill: #2f6fb3; } .s1 { fill: #d9822b; } .s2 { fill: #4f9a5f; } .open { fill-opacity: 0.3; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #15191f; } text { fill: #e6edf3; } .quiet { fill: #9198a1; } .grid { stroke: #3d444d; } .line { stroke: #f0a35e; }
    .s0 { fill: #5a9ae0; } .s1 { fill: #f0a35e; } .s2 { fill: #74c287; }
  }`;

/**
 * `groups` are { label, isOurs, bars } with one bar for each of `series`: { value, text }, `isOpen` when the true value is further
 * to the right, or { dash: true }. `mark` draws a line at a value.
 */
export function barChart({ title, axis, series, groups, isLog = true, mark }) {
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value)).filter((value) => value > 0);
  const scale = isLog ? logScale(values) : linearScale(values);
  const groupHeight = (group) => Math.max(1, group.bars.length) * BAR + GAP;
  const height = TOP + groups.reduce((sum, group) => sum + groupHeight(group), 0) + BOTTOM;
  const parts = [grid(scale, height), ...key(series)];
  let y = TOP;
  for (const group of groups) {
    parts.push(drawGroup(group, y, scale, series));
    y += groupHeight(group);
  }
  if (mark) parts.push(drawMark(mark, scale, height));
  const name = escaped(title);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${name}">
<title>${name}</title>
<style>${STYLE}
</style>
<rect class="card" width="${WIDTH}" height="${height}" rx="6"/>
<text class="title" x="16" y="26">${name}</text>
${parts.join('\n')}
<text class="quiet" x="${LABELS + PLOT / 2}" y="${height - 10}" text-anchor="middle">${escaped(axis)}</text>
</svg>
`;
}

function drawGroup({ label, isOurs, bars }, y, scale, series) {
  const middle = y + (bars.length * BAR) / 2 + 4;
  const text = `<text${isOurs ? ' class="ours"' : ''} x="${LABELS - 10}" y="${fixed(middle)}" text-anchor="end">${escaped(label)}</text>`;
  const drawn = bars.map((bar, i) => drawBar(bar, y + i * BAR, scale, series.length > 1 ? i : 0));
  return [text, ...drawn].join('\n');
}

function drawBar({ value, text, isOpen = false, dash = false }, y, scale, kind) {
  const at = (x) => `x="${fixed(x)}" y="${fixed(y + BAR - 3)}"`;
  if (dash) return `<text class="quiet" ${at(LABELS + 4)}>–</text>`;
  const width = Math.max(1, scale.place(value));
  const bar = `<rect class="s${kind}${isOpen ? ' open' : ''}" x="${LABELS}" y="${y}" width="${fixed(width)}" height="${BAR - 2}"/>`;
  return `${bar}<text class="quiet" ${at(LABELS + width + 4)}>${escaped(text)}</text>`;
}

function grid({ ticks, place }, height) {
  return ticks
    .map((tick) => {
      const x = fixed(LABELS + place(tick));
      const label = `<text class="quiet" x="${x}" y="${height - 28}" text-anchor="middle">${short(tick)}</text>`;
      return `<line class="grid" x1="${x}" x2="${x}" y1="${TOP - 8}" y2="${height - BOTTOM}"/>${label}`;
    })
    .join('\n');
}

function key(series) {
  if (series.length < 2) return [];
  let x = LABELS;
  return series.map((name, i) => {
    const text = `<rect class="s${i}" x="${x}" y="44" width="11" height="11"/><text x="${x + 16}" y="54">${escaped(name)}</text>`;
    x += 40 + name.length * 7;
    return text;
  });
}

function drawMark({ value, text }, { place }, height) {
  const x = fixed(LABELS + place(value));
  return `<line class="line" x1="${x}" x2="${x}" y1="${TOP - 8}" y2="${height - BOTTOM}"/><text x="${x}" y="${TOP - 12}" text-anchor="middle">${escaped(text)}</text>`;
}

function logScale(values) {
  const low = Math.floor(Math.log10(Math.min(...values, 1)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values, 1))));
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  return { ticks, place: (value) => (Math.max(0, Math.log10(value) - low) / (high - low)) * PLOT };
}

function linearScale(values) {
  const most = Math.max(...values, Number.MIN_VALUE);
  const step = [1, 2, 2.5, 5, 10].map((n) => n * 10 ** Math.floor(Math.log10(most / 5))).find((n) => most / n <= 6);
  const ticks = Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
  return { ticks, place: (value) => (value / ticks.at(-1)) * PLOT };
}

function short(value) {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 1e3 ? `${value / 1e3}k` : String(Number(value.toPrecision(3)));
}

const fixed = (value) => Number(value.toFixed(1));

function escaped(text) {
  return String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
