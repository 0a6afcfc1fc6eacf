import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AlertListView } from '../api/alerts/alert-view.ts';
import type { EntryPageView } from '../api/ledger/entry-view.ts';
import {
  DEFAULT_USAGE_GROUP,
  MARGIN_FIELDS,
  USAGE_GROUPS,
  type UsageReportView,
} from '../api/usage/usage-view.ts';
import type { UsagePlace } from '../book/usage.ts';
import { withAccountId } from './account-argument.ts';
import { id, type RemoteOptions, withCsv } from './arguments.ts';
import { ACCOUNTS, operatorApi } from './gateway-api.ts';
import { type Columns, exactCredits, print, shortCell, show } from './print.ts';

interface LedgerOptions extends RemoteOptions {
  readonly limit?: number;
  readonly before?: string;
  readonly keyId?: number;
  readonly from?: string;
  readonly to?: string;
}

export interface UsageOptions extends RemoteOptions {
  readonly from?: string;
  readonly to?: string;
  readonly groupBy: readonly UsagePlace[];
}

/** `tollgate account ledger|usage|alerts`: shows the operator the owner's view. */
export function accountViewCommands(account: Command): void {
  withCsv(withAccountId(account.command('ledger')))
    .description('list the ledger of an account, newest first')
    .option('--limit <count>', 'maximum number of entries', id)
    .option('--before <cursor>', 'continue after the previous page')
    .option('--key-id <id>', 'only entries of this key', id)
    .option('--from <day>', 'first UTC day, such as 2026-11-01')
    .option('--to <day>', 'last UTC day')
    .action(ledger);
  withUsageOptions(withAccountId(account.command('usage')), USAGE_GROUPS, DEFAULT_USAGE_GROUP)
    .description('report the usage of an account over whole UTC days')
    .action(usage);
  withAccountId(account.command('alerts'))
    .description('list the low-credits alerts of an account with their delivery status')
    .action(alerts);
}

/** Adds the options of a report of usage: its days, and one or two of the words to group by, joined by a comma. */
export function withUsageOptions(command: Command, words: readonly string[], usual: string): Command {
  const groupBy = new Option(
    '--group-by <what>',
    `rows: one or two of ${words.join(', ')}, joined by a comma`,
  )
    .argParser((text) => {
      const groups = text.split(',');
      const isKnown = groups.every((group) => words.includes(group));
      if (!isKnown || groups.length > 2 || new Set(groups).size < groups.length) {
        throw new InvalidArgumentError(`It must be one or two different words of: ${words.join(', ')}.`);
      }
      return groups;
    })
    .default([usual], usual);
  return withCsv(command)
    .option('--from <day>', 'first day, such as 2026-11-01')
    .option('--to <day>', 'last day')
    .addOption(groupBy);
}

/** Prints the report of usage at `path`: a row per group, accounts and keys with their names, and the total. */
export async function showUsage<Sums extends Readonly<Record<string, unknown>>>(
  path: string,
  options: UsageOptions,
  columns: Columns<Sums>,
): Promise<void> {
  const { from, to, groupBy } = options;
  const query = queryOf({ from, to, group_by: groupBy.join(',') });
  const report = await operatorApi(options).call<{ rows: Sums[]; total: Sums }>('GET', `${path}${query}`);
  const { total } = report;
  // The table doesn't count refused calls, so a row of them alone would be empty.
  const rows = report.rows.filter(({ calls, credits, charged }) => calls !== 0 || Number(credits ?? charged));
  const groupCell = (group: UsagePlace, row: Readonly<Record<string, unknown>>) => {
    const value = row[MARGIN_FIELDS[group]] ?? 'none';
    const name = group === 'key' ? row.key_name : group === 'account' ? row.email : undefined;
    return typeof name === 'string' ? `${value} ${shortCell(name)}` : String(value);
  };
  const groups = groupBy.map((group, at): Columns<Sums>[number] => [
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
  if (!options.json && !options.csv && answer.next !== null) print(`\nMore entries: --before ${answer.next}`);
}

async function usage(accountId: number, options: UsageOptions) {
  await showUsage<UsageReportView['total']>(`${ACCOUNTS}${accountId}/usage/`, options, [
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
