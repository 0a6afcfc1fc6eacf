import { type Command, Option } from 'commander';
import { CATEGORIES, SPENDING_PERIODS } from '../domain/key.ts';
import type { KeyView } from '../domain/key-view.ts';
import { credits, id, list as listArgument, type RemoteOptions, remote, secret } from './arguments.ts';
import { GatewayApi, operatorApi } from './gateway-api.ts';
import { exactCredits, print, printJson, printTable } from './print.ts';

interface KeyOptions extends RemoteOptions {
  readonly account?: number;
  readonly key?: string;
}

interface CreateOptions extends KeyOptions {
  readonly description?: string;
  readonly models?: string[];
  readonly categories?: string[];
  readonly limit?: number;
  readonly period?: string;
  readonly expires?: string;
  readonly ips?: string[];
  readonly canManage?: true;
}

/** `tollgate key …`: with an owner's managing key, or for any account with the operator token. */
export function keyCommands(program: Command): void {
  const key = program.command('key').description('API keys of an account of a running gateway');
  withCaller(key.command('create'))
    .description('create a key; its value is printed once')
    .argument('<name>', 'name of the key')
    .option('--description <text>', 'note about the key')
    .option('--models <names>', 'the only models that it may call, comma-separated', listArgument)
    .option('--categories <names>', `the only categories: ${CATEGORIES.join(', ')}`, listArgument)
    .option('--limit <credits>', 'most credits that it may spend in a period', credits)
    .addOption(new Option('--period <period>', 'period of the limit').choices([...SPENDING_PERIODS]))
    .option('--expires <time>', 'when it stops to work, ISO 8601 with Z or an offset')
    .option('--ips <ranges>', 'the only addresses or CIDR ranges, comma-separated', listArgument)
    .option('--can-manage', 'let it manage keys in spite of restrictions')
    .action(create);
  withCaller(key.command('list')).description('list all keys, inactive ones too').action(list);
  withCaller(key.command('revoke'))
    .description('deactivate a key: the next call with it is refused')
    .argument('<id>', 'id of the key', id)
    .action(revoke);
}

function withCaller(command: Command): Command {
  return remote(command)
    .addOption(
      new Option('--key <key>', 'managing key of the owner; - reads it from stdin').env('TOLLGATE_KEY'),
    )
    .option('--account <id>', 'act as the operator on this account instead', id);
}

/** Who calls, and where the keys of the account are. */
function keysApi(options: KeyOptions): { api: GatewayApi; path: string } {
  if (options.account !== undefined)
    return { api: operatorApi(options), path: `/api/admin/accounts/${options.account}/keys/` };
  const missing =
    "A key is missing. Set TOLLGATE_KEY to the owner's managing key, or use --key -; operators name the account with --account.";
  return { api: new GatewayApi(options.url, secret(options.key, missing)), path: '/api/keys/' };
}

async function create(name: string, options: CreateOptions) {
  const { api, path } = keysApi(options);
  const settings = {
    name,
    description: options.description,
    allowed_models: options.models,
    allowed_categories: options.categories,
    spending_limit: options.limit,
    spending_period: options.period,
    expires_at: options.expires,
    allowed_ips: options.ips,
    can_manage: options.canManage,
  };
  const created = await api.call<{ id: number; key: string }>('POST', path, settings);
  if (options.json) printJson(created);
  else showNewKey(created);
}

export function showNewKey({ id, key }: { readonly id: number; readonly key: string }): void {
  print(`Key ${id}, which is not shown again:\n\n  ${key}\n`);
}

async function list(options: KeyOptions) {
  const { api, path } = keysApi(options);
  const answer = await api.call<{ keys: KeyView[] }>('GET', path);
  if (options.json) return printJson(answer);
  printTable(
    ['ID', 'NAME', 'PREFIX', 'ACTIVE', 'MANAGES', 'SPENT', 'LIMIT', 'PERIOD', 'EXPIRES'],
    answer.keys.map((key) => [
      String(key.id),
      key.name,
      key.prefix,
      key.is_active ? 'yes' : 'no',
      key.can_manage ? 'yes' : 'no',
      key.spending_current,
      key.spending_limit === null ? 'none' : exactCredits(key.spending_limit),
      key.spending_period,
      key.expires_at ?? 'never',
    ]),
  );
}

async function revoke(keyId: number, options: KeyOptions) {
  const { api, path } = keysApi(options);
  const answer = await api.call<{ deleted: true }>('DELETE', `${path}${keyId}/`);
  if (options.json) printJson({ id: keyId, ...answer });
  else print(`Key ${keyId} is revoked.`);
}
