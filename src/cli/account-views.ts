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
import { exactCredits, print, printJson, printTable, shortCell } from './print.ts';

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

/** Cells that name the group of a row; accounts and keys by their names. */
export function groupCells(
  groups: readonly UsagePlace[],
  row: Readonly<Partial<Record<string, unknown>>>,
): string[] {
  return groups.map((group) => {
    const value = row[MARGIN_FIELDS[group]] ?? 'none';
    const name = group === 'key' ? row.key_name : group === 'account' ? row.email : undefined;
    return typeof name === 'string' ? `${value} ${shortCell(name)}` : String(value);
  });
}

/** Query string of the defined fields, with its question mark; empty if there are none. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) given.set(name, String(value));
  }
  return given.size === 0 ? '' : `?${given}`;
}

async function ledger(accountId: number, options: LedgerOptions) {
  const { limit, before, keyId, from, to } = options;
  const query = queryOf({ limit, before, key_id: keyId, from, to });
  const answer = await operatorApi(options).call<EntryPageView>(
    'GET',
    `${ACCOUNTS}${accountId}/ledger/${query}`,
  );
  if (options.json) return printJson(answer);
  printTable(
    ['TIME', 'TYPE', 'STATUS', 'OUTCOME', 'KEY', 'CREDITS', 'BALANCE', 'MODEL OR NOTE', 'ID'],
    answer.entries.map((entry) => [
      entry.created_at,
      entry.type,
      entry.status === null ? '' : String(entry.status),
      entry.outcome ?? '',
      entry.key_id === null ? '' : String(entry.key_id),
      entry.credits,
      entry.balance_after ?? '',
      entry.model ?? entry.note ?? '',
      entry.id,
    ]),
  );
  if (answer.next !== null) print(`\nMore entries: --before ${answer.next}`);
}

async function usage(accountId: number, options: UsageOptions) {
  const { from, to, groupBy } = options;
  const query = queryOf({ from, to, group_by: groupBy.join(',') });
  const answer = await operatorApi(options).call<UsageReportView>(
    'GET',
    `${ACCOUNTS}${accountId}/usage/${query}`,
  );
  if (options.json) return printJson(answer);
  printTable(
    [...groupBy.map((group) => group.toUpperCase()), 'CALLS', 'CREDITS'],
    [
      ...answer.rows.map((row) => [...groupCells(groupBy, row), String(row.calls), row.credits]),
      ['total', ...groupBy.slice(1).map(() => ''), String(answer.total.calls), answer.total.credits],
    ],
  );
}

async function alerts(accountId: number, options: RemoteOptions) {
  const answer = await operatorApi(options).call<AlertListView>('GET', `${ACCOUNTS}${accountId}/alerts/`);
  if (options.json) return printJson(answer);
  printTable(
    ['ID', 'TIME', 'BALANCE', 'TEST', 'DELIVERIES'],
    answer.alerts.map((alert) => [
      String(alert.id),
      alert.created_at,
      exactCredits(alert.credits_balance),
      alert.test ? 'yes' : 'no',
      alert.deliveries
        .map(({ key_id, status, error }) => `key ${key_id}: ${status}${error ? ` (${error})` : ''}`)
        .join(', ') || 'none',
    ]),
  );
}
