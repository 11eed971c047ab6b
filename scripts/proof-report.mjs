// docs/proof.md out of the results of the parts: pure, from one object to one text. Nothing here is written by hand: a part
// that did not run, or left no report, says so in its place.

const NOT_PROVEN = [
  'Nothing is proven for all interleavings: histories, worlds and faults are samples, and the report says how many.',
  'The simulation runs the code that ships over the model of a store, not over an engine. Engines are met by the histories and the faults.',
  'The search for an order (linearizability) covers acquire, renew, end, delegate, downgrade, upgrade and revocation by id. Blocks, reclaims, nested leases, revocation by name and failed tickets are covered by the linear checkers and the named cases only.',
  'No power was cut, no machine was suspended, no disk lied about a flush. What survives those is on the page of each store, and rests on what the engine promises.',
  'One machine, loopback networks, the versions named above. Not seen: other versions, Valkey, Sentinel, managed services, clocks of several machines that drift apart for real.',
  'A mutant that is caught shows that the tests notice this mistake. It says nothing about mistakes nobody thought of.',
];

/** `results`: { machine, command, isShort, parts: [{ name, … }] } as prove.mjs gathers them. */
export function proofText({ machine, command, isShort, parts }) {
  const of = (name) => parts.find((part) => part.name === name);
  return `${[
    '# Proof',
    '',
    `Written by \`make prove\`; not edited by hand. How each part works and what it can show: [testing.md](testing.md).`,
    '',
    ...(isShort
      ? [
          '**This is the short form** (`PROVE_SHORT=1`): few worlds and seconds of faults. It shows that the parts run; what each ran is in the table below.',
          '',
        ]
      : []),
    verdictLine(parts),
    '',
    '## Where and how',
    '',
    table(['what', 'value'], [...Object.entries(machine), ['command', `\`${command}\``]]),
    '',
    '## What ran',
    '',
    table(
      ['part', 'command', 'at commit', 'tests', 'seconds', 'verdict'],
      parts.map((part) => [
        part.name,
        `\`${part.command}\``,
        part.commit ?? '',
        testsText(part),
        part.seconds ?? '',
        verdictOf(part),
      ]),
    ),
    '',
    ...parts.flatMap(failures),
    '## Histories',
    '',
    ...histories(of('histories')),
    '',
    '## Simulation',
    '',
    ...simulation(of('simulation')),
    '',
    '## Mutants',
    '',
    ...mutants(of('mutants')),
    '',
    '## Faults',
    '',
    ...faults(of('faults')),
    '',
    '## What is not proven',
    '',
    ...NOT_PROVEN.map((sentence) => `- ${sentence}`),
  ].join('\n')}\n`;
}

export function verdictOf(part) {
  if (part.isMissing) return 'did not run';
  if (part.exit !== 0 || part.tests.failed > 0) return 'FAILED';
  if (part.needsReport && !part.report) return 'FAILED: it left no report';
  return part.tests.skipped > 0 ? 'passed, with tests left out' : 'passed';
}

export function isProven(parts) {
  return parts.every((part) => verdictOf(part).startsWith('passed'));
}

function verdictLine(parts) {
  const bad = parts.filter((part) => !verdictOf(part).startsWith('passed')).map(({ name }) => name);
  if (bad.length === 0) return 'Every part passed.';
  return `**Not proven**: ${bad.join(', ')} did not pass or did not run. See below.`;
}

function testsText({ isMissing, tests }) {
  if (isMissing) return '';
  return `${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} left out`;
}

function failures(part) {
  if (part.isMissing || part.failures.length === 0) return [];
  return [
    `### What failed in ${part.name}`,
    '',
    ...part.failures.map(({ title, message }) => `- ${title}: ${cell(message)}`),
    '',
  ];
}

function nothing(part) {
  if (!part || part.isMissing) return ['It did not run.'];
  return ['It left no report.'];
}

function histories(part) {
  if (!part || part.isMissing) return nothing(part);
  const rows = (part.report ?? []).map((one) => [
    one.store,
    one.operations,
    one.open,
    one.groups,
    one.states,
    one.verdict,
  ]);
  return [
    'One order of the operations explains what clients saw, answers lost on purpose included:',
    '',
    table(['store', 'operations', 'without an answer', 'groups of names', 'states searched', 'verdict'], rows),
    '',
    'And the checkers in linear time, over longer histories:',
    '',
    table(
      ['history', 'seconds', 'verdict'],
      part.titles
        .filter(({ title }) => /SEED=|history of/.test(title))
        .map(({ title, seconds, status }) => [title, seconds, status]),
    ),
    '',
    `${part.titles.filter(({ title }) => /is a complaint|fits nowhere|is broken by|is rejected/.test(title)).length} histories with one line changed were rejected, one for every kind of line.`,
  ];
}

function simulation(part) {
  if (!part?.report) return nothing(part);
  const { findings = [], ...figures } = part.report;
  const rows = Object.entries(figures).flatMap(([key, value]) =>
    typeof value === 'number' ? [[words(key), value]] : [],
  );
  return [
    table(['what', 'how many'], rows),
    '',
    ...(findings.length === 0
      ? ['No world broke a rule.']
      : findings.map(({ seed, message }) => `- SEED=${seed}: ${cell(message)}`)),
  ];
}

function mutants(part) {
  if (!part?.report) return nothing(part);
  const { results, of } = part.report;
  const caught = results.filter((one) => one.caught).length;
  return [
    `${caught} of ${results.length} that were tried were caught; there are ${of}.`,
    '',
    table(
      ['rule', 'mutant', 'caught by', 'after'],
      results.map((one) => [one.rule, one.name, one.caught ? withoutSeed(one.test) : '**alive**', afterText(one)]),
    ),
  ];
}

function afterText({ worlds, programs, seconds }) {
  const many = worlds ? `world ${worlds}, ` : programs ? `program ${programs}, ` : '';
  return `${many}${seconds} s`;
}

function withoutSeed(test) {
  return String(test).replace(/ \(SEED=\d+\)/, '');
}

function faults(part) {
  if (!part?.report) return nothing(part);
  return [
    table(
      ['store', 'seconds', 'misfortunes', 'grants', 'increments', 'lost', 'lost without the guard', 'complaints'],
      part.report.map((one) => [
        one.store,
        one.seconds,
        Object.values(one.misfortunes).reduce((sum, count) => sum + count, 0),
        one.grants,
        one.increments.confirmed + one.increments.unknownLanded,
        one.lost,
        one.lostUnguarded,
        one.complaints.length,
      ]),
    ),
    '',
    ...part.report.flatMap((one) => [
      `- ${one.store}, SEED=${one.seed}: ${Object.entries(one.misfortunes)
        .map(([kind, count]) => `${kind} ${count}`)
        .join(', ')}.`,
      ...one.leftOut.map((reason) => `  Left out: ${cell(reason)}`),
      ...one.complaints.map((complaint) => `  Complaint: ${cell(complaint)}`),
    ]),
  ];
}

/** `streamWorlds` is "stream worlds". */
function words(key) {
  return key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** One line without what would end the cell. */
function cell(value) {
  return String(value).split('\n')[0].replaceAll('|', '\\|').trim();
}
