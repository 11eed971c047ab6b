// Help and bad usage (C1): what can be asked, and one line with a suggestion for what cannot.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commandSite } from '../support/command-site.js';

const site = commandSite();

describe('C1: usage', () => {
  test('without a command it prints its help, and so do --help and help', async () => {
    site.env['COLUMNS'] = '80';
    const { code, out, err } = await site.run();
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatchInlineSnapshot(`
      "Usage: holdfast [common options] COMMAND …

      Leases: who may touch what, and until when.

      Options:
        --version         print the version
        -h, --help        display help for command

      Common options:
        --store <url>     the store: sqlite:/path/leases.db (env HOLDFAST_STORE)
        --namespace <ns>  the closed world of names to look at (env
                          HOLDFAST_NAMESPACE)
        --owner <id>      who holds (env HOLDFAST_OWNER; else user@host)
        --json            one JSON document on standard output, or one a line
        -v, --verbose     say which store, namespace and owner are used

      Commands:
        run               hold a lease while a command runs
        acquire           take a lease that outlives this command
        renew             make a lease live longer
        release           give a lease back
        ls                who holds what, and who waits
        show              one resource: holder, queue, last events
        history           what happened, from the log
        watch             events as they happen, one a line
        revoke            take a lease away from its holder
        doctor            what is wrong, how it shows, what to do
        files             lease files and folders of a tree
        seq               streams of numbers: gaps, readers, recovery
        token             who may use the servers of a store
        config            the settings kept in the store
        sweep             write down what has expired
        backup            copy the store into a new file
        restore           put a backup in the place of the store
        migrate           bring the store's schema up to date
        bench             a quick figure for this store
        serve             leases over HTTP, from this store
        completion        completion for a shell
        whoami            which owner, namespace and store apply

      Exit codes: 64 usage, 69 store unreachable, 75 refused or not in time,
                  76 lease lost, 77 not allowed.

      Examples:
        holdfast run deploy -- ./deploy.sh      hold "deploy" while the script runs
        holdfast ls                             who holds what
        holdfast show deploy                    holder, queue and last events
        holdfast COMMAND --help                 more examples
      "
    `);
    expect((await site.run('--help')).out).toBe(out);
    expect((await site.run('help')).out).toBe(out);
  });

  test.each([40, 80, 120])('the help of a command fits %i columns, with examples', async (columns) => {
    site.env['COLUMNS'] = String(columns);
    const { code, out } = await site.run('help', 'ls');
    expect(code).toBe(0);
    expect(out).toContain('Examples:\n  holdfast ls ');
    expect(out).toBe((await site.run('ls', '--help')).out);
    const [options = ''] = out.split('Examples:');
    if (columns > 40) expect(Math.max(...options.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
  });

  test('every command has help with examples', async () => {
    const names = [...(await site.run()).out.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name ?? '');
    expect(names).toContain('whoami');
    const helps = await Promise.all(names.map(async (name) => [name, (await site.run(name, '--help')).out] as const));
    for (const [name, help] of helps) expect(help, name).toMatch(/Examples:\n.*holdfast/);
  });

  test.each(['seq', 'seq manual', 'files'])('%s without a command of its own prints its help', async (line) => {
    const help = await site.run(...line.split(' '), '--help');
    expect(await site.run(...line.split(' '))).toEqual(help);
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toContain(`Usage: holdfast ${line} `);
  });

  test.each([
    [['lss'], "unknown command 'lss' (Did you mean ls?): see `holdfast --help`"],
    [['ls', '--ownr', 'x'], "unknown option '--ownr' (Did you mean --owner?): see `holdfast ls --help`"],
    [['--stor', 'x', 'ls'], "unknown option '--stor' (Did you mean --store?): see `holdfast --help`"],
    [['show'], "missing required argument 'resource': see `holdfast show --help`"],
    [['show', 'a', 'b'], "too many arguments for 'show'. Expected 1 argument but got 2.: see `holdfast show --help`"],
    [['config', 'bogus'], "unknown command 'bogus': config has ls, get, set: see `holdfast config --help`"],
    [['token', 'bogus', 'x'], "unknown command 'bogus': token has create, ls, revoke: see `holdfast token --help`"],
    [['files', 'bogus'], "unknown command 'bogus': files has acquire, release, ls: see `holdfast files --help`"],
    [
      ['seq', 'manual', 'x'],
      "unknown command 'x': seq manual has ls, retry, discard: see `holdfast seq manual --help`",
    ],
    [['seq', 'shwo'], /^holdfast: unknown command 'shwo' \(Did you mean show\?\): seq has ls, show, gaps, /],
    [
      ['config', 'ls', 'x'],
      "too many arguments for 'ls'. Expected 0 arguments but got 1.: see `holdfast config ls --help`",
    ],
    [['acquire', 'a', '--wait', '5s', '--no-wait'], '--wait and --no-wait contradict each other: give one of them'],
    [['run', 'a', '--no-wait', '--wait', '5s', '--', 'true'], /^holdfast: --wait and --no-wait contradict each other/],
    [['files', 'acquire', 'a', '--no-wait', '--wait', '1s'], /^holdfast: --wait and --no-wait contradict each other/],
    [['ls', '--sort', 'colour'], /argument 'colour' is invalid\. Allowed choices are resource, owner, age/],
    [['acquire', 'a', '--ttl', 'soon'], '--ttl takes milliseconds or text such as \'30s\', got "soon"'],
    [['acquire', 'a', '--limit', '3'], '--limit needs --shared: an exclusive lease has one holder'],
    [['acquire', 'a', '--priority', 'high'], /argument 'high' is invalid\. It is a whole number\./],
    [['--namespace', 'a/b', 'ls'], 'a namespace is 1 to 64 characters out of A-Z a-z 0-9 . _ -, got "a/b"'],
    [
      ['--store', 'http://me:secret@host/', 'ls'],
      'the url carries a user or a password: give connect a token instead (option token, HOLDFAST_TOKEN for the command)',
    ],
    [['--store', 'ftp://me:secret@host/', 'ls'], /"ftp:\/\/…@host\/" names no store/],
    [['--store', 'memory:', 'ls'], 'memory: ends with the command: name a file, sqlite:/path'],
    [['history', '--type', 'aquired'], /no events of type aquired \(Did you mean acquired\?\)/],
    [['history', '--since', 'yesterday'], /--since is how long ago, such as 90m, or a time such as/],
    [['config', 'get', 'held_ttl'], /there is no setting held_ttl/],
  ])('%j is one line and 64', async (args, message) => {
    if (args[0] === 'history') await site.run('migrate');
    const { code, out, err } = await site.run(...args);
    expect([code, out]).toEqual([64, '']);
    expect(err).toMatch(/^holdfast: .*\n$/);
    if (typeof message === 'string') expect(err).toBe(`holdfast: ${message}\n`);
    else expect(err).toMatch(message);
    expect(err).not.toContain('secret');
  });

  test.each([
    [['acquire', 'a', '--ttl', '30000'], '--ttl needs a unit: write 30000ms or 30s, got "30000"'],
    [['acquire', 'a', '--ttl', '0'], '--ttl is from 100ms to 30d, got "0"'],
    [['acquire', 'a', '--wait', '5'], '--wait needs a unit: write 5ms or 5s, got "5"'],
    [['acquire', 'a', '--min-hold', '5'], '--min-hold needs a unit: write 5ms or 5s, got "5"'],
    [['acquire', 'a', '--lock-delay', '9d'], '--lock-delay is from 0s to 1m, got "9d"'],
    [['files', 'acquire', 'a', '--ttl', '5'], '--ttl needs a unit: write 5ms or 5s, got "5"'],
    [['run', 'a', '--ttl', '5', '--', 'true'], '--ttl needs a unit: write 5ms or 5s, got "5"'],
    [['run', 'a', '--grace', '5', '--', 'true'], '--grace needs a unit: write 5ms or 5s, got "5"'],
    [['renew', 'held', '--ttl', '5'], '--ttl needs a unit: write 5ms or 5s, got "5"'],
    [['ls', '--older-than', '5'], '--older-than needs a unit: write 5ms or 5s, got "5"'],
    [['history', '--until', '9999d'], /^--until is from 0s to \S+, got "9999d"/],
    [['revoke', 'b', '--reason', 'x', '--keep-out', '5'], '--keep-out needs a unit: write 5ms or 5s, got "5"'],
    [['token', 'create', 'x', '--role', 'read', '--expires', '5'], '--expires needs a unit: write 5ms or 5s, got "5"'],
    [['serve', '--drain', '5'], '--drain needs a unit: write 5ms or 5s, got "5"'],
  ])('%j: the flag is named as it was typed, and a number without its unit asked for one', async (args, message) => {
    await site.run('acquire', 'held');
    const { code, out, err } = await site.run(...args);
    expect([code, out]).toEqual([64, '']);
    expect(err.replace(/^holdfast: (.*)\n$/, '$1')).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    );
  });

  test('--wait 0 is one attempt', async () => {
    await site.run('acquire', 'a');
    expect((await site.run('acquire', 'a', '--wait', '0')).err).toMatch(/^holdfast: a is not free: held by tester/);
  });

  test('--version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(await site.run('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });
});
