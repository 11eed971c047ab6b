// holdfast token (C10): who may use the servers of this store, and for what. A secret is printed once, alone on standard
// output, so that a script can keep it; the store has its hash. Making and revoking end when every server goes by it, so
// that the next command of a script meets neither an old token nor a door that is still open.
import { Option, type Command } from 'commander';
import type { Role } from '../../server/context.js';
import { KNOWN_WITHIN_MS, type TokenView } from '../../server/access/index.js';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { examples } from '../help.js';
import { tell, type Output } from '../output.js';
import { fitted, type Column } from '../table.js';
import { utc } from '../times.js';
import { tokenKeeper } from '../token-keeper.js';

interface CreateFlags {
  role: Role;
  prefix?: string;
  bindOwner?: string;
  expires?: string;
}

export function define(command: Command, context: Context): void {
  command
    .command('create <name>')
    .summary('make a token and print its secret, once')
    .description(
      'Make a token and print its secret, once. When this ends, after a second, every server of the store knows it.',
    )
    .addOption(
      new Option('--role <role>', 'read looks, write holds, admin governs')
        .choices(['read', 'write', 'admin'])
        .makeOptionMandatory(),
    )
    .option('--prefix <name>', 'only this name and what is below it')
    .option('--bind-owner <id>', 'leases are taken as this owner alone')
    .option('--expires <duration>', 'how long it is good for, such as 90d')
    .action((name: string, flags: CreateFlags) => create(context, name, flags));
  command
    .command('ls', { isDefault: true })
    .summary('the tokens that stand')
    .description('The tokens that stand, oldest first. Secrets are not kept, so none is shown.')
    .action(() => list(context));
  command
    .command('revoke <token>')
    .summary('take a token back, by its id or its name')
    .description(
      'Take a token back, by its id or its name. When this ends, after a second, no server takes it any more.',
    )
    .action((token: string) => revoke(context, token));
  examples(command, [
    ['holdfast token create ops --role admin', 'the first one: from now on servers ask for a token'],
    ['holdfast token create ci --role write --prefix ci --expires 90d', 'holds names below ci, for 90 days'],
    ['holdfast token ls', 'who may what, until when'],
    ['holdfast token revoke ci', 'no server takes it any more'],
  ]);
}

async function create(
  context: Context,
  name: string,
  { role, prefix, bindOwner, expires }: CreateFlags,
): Promise<void> {
  const keeper = await tokenKeeper(context, false);
  const made = await keeper.create({ name, role, prefix, owner: bindOwner, expiresIn: expires });
  if (context.isJson) {
    context.output.json(made);
  } else {
    context.output.line(made.secret);
    tell(`made ${sentenceOf(made)}; the secret is not shown again`);
  }
  await untilKnown(context);
}

async function list(context: Context): Promise<void> {
  const tokens = await (await tokenKeeper(context, true)).list();
  if (context.isJson) context.output.json({ items: tokens });
  else if (tokens.length > 0) for (const line of tokenTable(tokens, context.output)) context.output.line(line);
  if (tokens.length === 0) tell('there is no token: servers of this store answer their own machine alone');
}

async function revoke(context: Context, token: string): Promise<void> {
  const revoked = await (await tokenKeeper(context, false)).revoke(token);
  if (context.isJson) context.output.json(revoked);
  else context.output.line(`revoked ${safe(revoked.name)} (${revoked.id})`);
  await untilKnown(context);
}

function untilKnown({ clock }: Context): Promise<void> {
  return new Promise((resolve) => {
    clock.after(KNOWN_WITHIN_MS, resolve, true);
  });
}

function sentenceOf({ id, name, role, prefix, owner, expiresAt }: TokenView): string {
  const bounds = [
    ...(prefix === undefined ? [] : [`for ${prefix} and below`]),
    ...(owner === undefined ? [] : [`as ${owner}`]),
    ...(expiresAt === undefined ? [] : [`until ${utc(expiresAt)}`]),
  ];
  return [`token ${name} (${id}) with the role ${role}`, ...bounds].join(', ');
}

function tokenTable(tokens: readonly TokenView[], output: Output): string[] {
  const columns: Column<TokenView>[] = [
    { title: 'ID', of: ({ id }) => id },
    { title: 'NAME', of: ({ name }) => safe(name) },
    { title: 'ROLE', of: ({ role }) => role },
    { title: 'PREFIX', of: ({ prefix = '-' }) => safe(prefix) },
    { title: 'OWNER', of: ({ owner = '-' }) => safe(owner) },
    { title: 'EXPIRES', of: ({ expiresAt }) => (expiresAt === undefined ? '-' : utc(expiresAt)) },
    { title: 'MADE BY', of: ({ createdBy }) => safe(createdBy) },
  ];
  const words = (token: TokenView): string[] => [safe(sentenceOf(token)), `made by ${safe(token.createdBy)}`];
  return fitted(tokens, [{ columns }], words, output.width, (line) => output.paint('bold', line));
}
