import { type Command, Option } from 'commander';
import type { CreatedKeyView, KeyListView, KeyView, RotatedKeyView } from '../api/keys/key-view.ts';
import type { ModelListView } from '../api/models/model-view.ts';
import { modelNames } from '../domain/allowed-models.ts';
import { KEY_FIELDS } from '../domain/key-fields.ts';
import type { Kind } from '../domain/key-readers.ts';
import { KEY_FIELD_NAMES, keyField } from '../domain/key-settings.ts';
import {
  callLimit,
  callLimitsCell,
  credits,
  Failure,
  grace,
  id,
  list as listArgument,
  MAX_GRACE,
  NO_SPENDING_LIMITS,
  type RemoteOptions,
  remote,
  type SpendingLimits,
  secret,
  spendingLimit,
  spendingLimitsCell,
} from './arguments.ts';
import { GatewayApi, operatorApi } from './gateway-api.ts';
import { io } from './io.ts';
import { type Columns, print, printJson, shortCell, show } from './print.ts';

interface KeyOptions extends RemoteOptions {
  readonly account?: number;
  readonly key?: string;
}

interface RotateOptions extends KeyOptions {
  readonly grace: number;
  readonly endGrace?: true;
}

/** Settings as options, under commander's flag names; false clears a setting. */
type SettingOptions = KeyOptions & Readonly<Record<string, unknown>>;

/** `tollgate key …`: uses an owner's managing key, or the operator's token for any account. */
export function keyCommands(program: Command): void {
  const key = program.command('key').description('manage the API keys of an account of a running gateway');
  withSettings(withCaller(key.command('create')), true)
    .description('create a key and print its value once')
    .argument('<name>', 'name of the key')
    .action(create);
  withSettings(withCaller(key.command('edit')).option('--name <name>', 'name of the key'), false)
    .description('change the given settings of a key')
    .argument('<id>', 'id of the key', id)
    .action(edit);
  withCaller(key.command('list'))
    .description(
      'list all keys, including inactive ones; --json prints every field, such as previous_valid_until of a rotated key',
    )
    .action(list);
  withCaller(key.command('revoke'))
    .description('deactivate a key: the next call with it is refused')
    .argument('<id>', 'id of the key', id)
    .action(revoke);
  withCaller(key.command('reactivate'))
    .description('reactivate a key')
    .argument('<id>', 'id of the key', id)
    .action((keyId, options) => change(keyId, { is_active: true }, options));
  withCaller(key.command('rotate'))
    .description('give a key a new value and print it once')
    .argument('<id>', 'id of the key', id)
    .option(
      '--grace <time>',
      `how long the current value stays valid: seconds, 30m, 12h or 7d; at most ${MAX_GRACE}`,
      grace,
      0,
    )
    .addOption(
      new Option('--end-grace', 'end the previous value, without creating a new one').conflicts('grace'),
    )
    .action(rotate);
}

/** Fields with an option. */
const SETTABLE = KEY_FIELD_NAMES.map(keyField).flatMap(({ wire, type, option }) =>
  option ? [{ wire, type, option }] : [],
);

/** The field whose option sets `spending_limits`, too. */
const SPENDING = KEY_FIELDS.spendingLimit.wire;

/** Adds the options that set and clear settings. A new key has nothing to clear, so its help hides them. */
function withSettings(command: Command, isNew: boolean): Command {
  for (const { wire, type, option } of SETTABLE) {
    const { flag, value, help, lifted } = option;
    const added = new Option(`--${flag}${value ? ` <${value}>` : ''}`, help);
    const parse = PARSERS[type.kind];
    if (wire === SPENDING) added.argParser(spendingLimit);
    else if (parse) added.argParser(parse);
    if (Array.isArray(type.schema.enum)) added.choices(type.schema.enum);
    command.addOption(added);
    if (lifted) command.addOption(new Option(`--no-${flag}`, lifted).hideHelp(isNew && type.kind !== 'flag'));
  }
  return command;
}

const PARSERS: Readonly<Record<Kind, ((text: string) => unknown) | undefined>> = {
  text: undefined,
  time: undefined,
  flag: undefined,
  credits,
  count: callLimit,
  list: listArgument,
  limits: undefined,
};

function withCaller(command: Command): Command {
  return remote(command)
    .option('--key <key>', 'managing key of the owner; - reads it from stdin (default: TOLLGATE_KEY)')
    .option('--account <id>', 'act as the operator on this account instead', id);
}

/** Gateway client for an owner or the operator, with the path of the account's keys. */
function keysApi(options: KeyOptions): { api: GatewayApi; path: string } {
  if (options.account !== undefined)
    return { api: operatorApi(options), path: `/api/admin/accounts/${options.account}/keys/` };
  const missing =
    "The key is missing. Set TOLLGATE_KEY to the owner's managing key or use --key -. As the operator, use --account.";
  return {
    api: new GatewayApi(options, secret(options.key ?? io().env.TOLLGATE_KEY, missing)),
    path: '/api/keys/',
  };
}

/** Settings under their API names. Omitted ones are undefined and not sent. */
function settingsOf(options: SettingOptions): Readonly<Record<string, unknown>> {
  const limit = options[KEY_FIELDS.spendingLimit.option.flag] as SpendingLimits | false | undefined;
  return {
    ...Object.fromEntries(
      SETTABLE.filter(({ wire }) => wire !== SPENDING).map(({ wire, type, option }) => {
        const given = options[camelCase(option.flag)];
        return [wire, given === false && type.kind !== 'flag' ? EMPTY[type.kind] : given];
      }),
    ),
    ...(limit === false ? NO_SPENDING_LIMITS : limit),
  };
}

/** Values that `--no-…` sends. */
const EMPTY: Readonly<Record<Exclude<Kind, 'flag'>, unknown>> = {
  text: '',
  time: null,
  credits: null,
  count: null,
  list: [],
  limits: [],
};

function camelCase(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

async function create(name: string, options: SettingOptions) {
  const { api, path } = keysApi(options);
  const settings: Record<string, unknown> = { name, ...settingsOf(options) };
  const created = await api.call<CreatedKeyView>('POST', path, settings);
  if (options.json) printJson(created);
  else showNewKey(created);
  if (Array.isArray(settings[KEY_FIELDS.allowedModels.wire]))
    await warnOfModels(new GatewayApi(options, created.key));
}

/**
 * Warns of misspelt models, which leave a key unable to call anything. Asks the gateway with the new key, and stays
 * silent if that key may not be used from this machine.
 */
async function warnOfModels(asKey: GatewayApi): Promise<void> {
  const answer = await asKey.call<Partial<ModelListView>>('GET', '/v1/models').catch(() => undefined);
  // The gateway stores aliases as model names.
  const own = await asKey.call<Partial<KeyView>>('GET', '/api/key/').catch(() => undefined);
  if (!answer?.data || !own?.allowed_models) return;
  const models = own.allowed_models;
  const known = answer.data.map((model) => model.id);
  const unknown = models.filter((name) => !known.some(modelNames([name]).has));
  if (unknown.length === 0) return;
  const text = `Warning: this key can't call ${unknown.join(', ')}: the model is not in the catalog, or another restriction excludes it.`;
  io().stderr.write(`${text}\n`);
}

function edit(keyId: number, options: SettingOptions): Promise<void> {
  const settings = { name: options.name, ...settingsOf(options) };
  if (Object.values(settings).every((value) => value === undefined)) {
    throw new Failure('No change was given. Set an option; --help lists them.', { isUsage: true });
  }
  return change(keyId, settings, options);
}

async function change(keyId: number, settings: object, options: KeyOptions): Promise<void> {
  const { api, path } = keysApi(options);
  const changed = await api.call<KeyView>('PATCH', `${path}${keyId}/`, settings);
  show(options, changed, COLUMNS, [changed]);
}

/** Prints a new key, the only time its value is shown. */
export function showNewKey({ id, key }: { readonly id: number; readonly key: string }): void {
  print(`Key ${id}, which is not shown again:\n\n  ${key}\n`);
}

async function list(options: KeyOptions) {
  const { api, path } = keysApi(options);
  const answer = await api.call<KeyListView>('GET', path);
  show(options, answer, COLUMNS, answer.keys);
}

const COLUMNS: Columns<KeyView> = [
  ['ID', ({ id }) => id],
  ['NAME', ({ name }) => shortCell(name)],
  ['PREFIX', ({ prefix }) => prefix],
  ['STATUS', ({ status }) => status],
  ['MANAGES', ({ can_manage }) => can_manage],
  ['SPENT', ({ spending_current }) => spending_current, 'right'],
  ['PERIOD', ({ spending_period }) => spending_period],
  ['LIMITS', spendingLimitsCell],
  ['CALLS', callLimitsCell],
  ['LAST USED', ({ last_used_at }) => last_used_at?.slice(0, 10) ?? 'never'],
  ['EXPIRES', ({ expires_at }) => expires_at?.slice(0, 16).concat('Z') ?? 'never'],
];

async function rotate(keyId: number, options: RotateOptions) {
  const { api, path } = keysApi(options);
  const address = `${path}${keyId}/rotate/`;
  if (options.endGrace) {
    const key = await api.call<KeyView>('POST', address, { end_grace: true });
    if (options.json) printJson(key);
    else print(`Key ${keyId} has only its newest value.`);
    return;
  }
  const rotated = await api.call<RotatedKeyView>('POST', address, { grace_seconds: options.grace });
  if (options.json) return printJson(rotated);
  showNewKey(rotated);
  const until = rotated.previous_valid_until;
  print(
    until === null ? 'The previous value is no longer valid.' : `The previous value is valid until ${until}.`,
  );
}

async function revoke(keyId: number, options: KeyOptions) {
  const { api, path } = keysApi(options);
  const answer = await api.call<{ deleted: true }>('DELETE', `${path}${keyId}/`);
  if (options.json) printJson({ id: keyId, ...answer });
  else print(`Key ${keyId} is revoked.`);
}
