import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AlertListView } from '../api/alerts/alert-view.ts';
import type { EntryPageView } from '../api/ledger/entry-view.ts';
import {
  DEFAULT_USAGE_GROUP,
  MARGIN_FIELDS,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageReportView,
} from '../api/usage/usage-view.ts';
import type { UsagePlace } from '../book/usage.ts';
import { id, type RemoteOptions, withAccountId } from './arguments.ts';
import { ACCOUNTS, operatorApi } from './gateway-api.ts';
import { type Columns, exactCredits, print, shortCell, show } from './print.ts';

interface LedgerOptions extends RemoteOptions {
  readonly limit?: number;
  readonly before?: string;
  readonly keyId?: number;
  readonly from?: string;
  readonly to?: string;
}

interface UsageOptions extends RemoteOptions {
  readonly from?: string;
  readonly to?: string;
  readonly groupBy: readonly UsageGroup[];
}

/** `tollgate account ledger|usage|alerts`: shows the operator the owner's view. */
export function accountViewCommands(account: Command): void {
  withAccountId(account.command('ledger'))
    .description('list the ledger of an account, newest first')
    .option('--limit <count>', 'maximum number of entries', id)
    .option('--before <cursor>', 'continue after the previous page')
    .option('--key-id <id>', 'only entries of this key', id)
    .option('--from <day>', 'first UTC day, such as 2026-11-01')
    .option('--to <day>', 'last UTC day')
    .action(ledger);
  withAccountId(account.command('usage'))
    .description('report the usage of an account over whole UTC days')
    .option('--from <day>', 'first day, such as 2026-11-01')
    .option('--to <day>', 'last day')
    .addOption(groupByOption(USAGE_GROUPS, DEFAULT_USAGE_GROUP))
    .action(usage);
  withAccountId(account.command('alerts'))
    .description('list the low-credits alerts of an account with their delivery status')
    .action(alerts);
}

/** Option `--group-by`: one or two of the words, joined by a comma. */
export function groupByOption<Word extends string>(words: readonly Word[], usual: Word): Option {
  return new Option('--group-by <what>', `rows: one or two of ${words.join(', ')}, joined by a comma`)
    .argParser((text) => {
      const groups = text.split(',');
      const isKnown = groups.every((group) => words.some((word) => word === group));
      if (!isKnown || groups.length > 2 || new Set(groups).size < groups.length) {
        throw new InvalidArgumentError(`It must be one or two different words of: ${words.join(', ')}.`);
      }
      return groups;
    })
    .default([usual], usual);
}

/** Prints a report of usage: a row per group, accounts and keys with their names, and the total. */
export function showUsage<Sums extends Readonly<Record<string, unknown>>>(
  options: RemoteOptions & { readonly groupBy: readonly UsagePlace[] },
  report: { readonly rows: readonly Sums[]; readonly total: Sums },
  columns: Columns<Sums>,
): void {
  const { rows, total } = report;
  const groupCell = (group: UsagePlace, row: Readonly<Record<string, unknown>>) => {
    const value = row[MARGIN_FIELDS[group]] ?? 'none';
    const name = group === 'key' ? row.key_name : group === 'account' ? row.email : undefined;
    return typeof name === 'string' ? `${value} ${shortCell(name)}` : String(value);
  };
  const groups = options.groupBy.map((group, at): Columns<Sums>[number] => [
    group.toUpperCase(),
    (row) => (row === total ? (at === 0 ? 'total' : '') : groupCell(group, row)),
  ]);
  show(options, report, [...groups, ...columns], [...rows, total]);
}

/** Query string of the defined fields, with its question mark; empty if there are none. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) given.set(name, String(value));
  }
  return given.size === 0 ? '' : `?${given}`;
}

const ENTRY_COLUMNS: Columns<EntryPageView['entries'][number]> = [
  ['TIME', ({ created_at }) => created_at],
  ['TYPE', ({ type }) => type],
  ['STATUS', ({ status }) => status ?? ''],
  ['OUTCOME', ({ outcome }) => outcome ?? ''],
  ['KEY', ({ key_id }) => key_id ?? ''],
  ['CREDITS', ({ credits }) => credits, 'right'],
  ['BALANCE', ({ balance_after }) => balance_after ?? '', 'right'],
  ['MODEL OR NOTE', ({ model, note }) => model ?? note ?? ''],
  ['ID', ({ id }) => id],
];

async function ledger(accountId: number, options: LedgerOptions) {
  const { limit, before, keyId, from, to } = options;
  const query = queryOf({ limit, before, key_id: keyId, from, to });
  const answer = await operatorApi(options).call<EntryPageView>(
    'GET',
    `${ACCOUNTS}${accountId}/ledger/${query}`,
  );
  show(options, answer, ENTRY_COLUMNS, answer.entries);
  if (!options.json && answer.next !== null) print(`\nMore entries: --before ${answer.next}`);
}

async function usage(accountId: number, options: UsageOptions) {
  const { from, to, groupBy } = options;
  const query = queryOf({ from, to, group_by: groupBy.join(',') });
  const answer = await operatorApi(options).call<UsageReportView>(
    'GET',
    `${ACCOUNTS}${accountId}/usage/${query}`,
  );
  showUsage<UsageReportView['total']>(options, answer, [
    ['CALLS', ({ calls }) => calls, 'right'],
    ['CREDITS', ({ credits }) => credits, 'right'],
  ]);
}

const ALERT_COLUMNS: Columns<AlertListView['alerts'][number]> = [
  ['ID', ({ id }) => id],
  ['TIME', ({ created_at }) => created_at],
  ['BALANCE', ({ credits_balance }) => exactCredits(credits_balance), 'right'],
  ['TEST', ({ test }) => test],
  [
    'DELIVERIES',
    ({ deliveries }) =>
      deliveries
        .map(({ key_id, status, error }) => `key ${key_id}: ${status}${error ? ` (${error})` : ''}`)
        .join(', ') || 'none',
  ],
];

async function alerts(accountId: number, options: RemoteOptions) {
  const answer = await operatorApi(options).call<AlertListView>('GET', `${ACCOUNTS}${accountId}/alerts/`);
  show(options, answer, ALERT_COLUMNS, answer.alerts);
}
