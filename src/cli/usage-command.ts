import { type Command, Option } from 'commander';
import { DEFAULT_MARGIN_GROUP, MARGIN_FIELDS, MARGIN_GROUPS } from '../api/report-groups.ts';
import type { MarginReportView, MarginSumsView } from '../api/views/margin-view.ts';
import { queryOf } from './account-views.ts';
import { type RemoteOptions, remote } from './arguments.ts';
import { operatorApi } from './gateway-api.ts';
import { printJson, printTable } from './print.ts';

interface UsageOptions extends RemoteOptions {
  readonly from?: string;
  readonly to?: string;
  readonly groupBy: (typeof MARGIN_GROUPS)[number];
}

/** `tollgate usage`: the operator's usage report of a running gateway. */
export function usageCommand(program: Command): void {
  remote(program.command('usage'))
    .description(
      'report the usage of all accounts over whole UTC days: charges, cost by the price list, margin',
    )
    .option('--from <day>', 'first day, such as 2026-11-01')
    .option('--to <day>', 'last day')
    .addOption(
      new Option('--group-by <what>', 'rows').choices([...MARGIN_GROUPS]).default(DEFAULT_MARGIN_GROUP),
    )
    .action(usage);
}

async function usage(options: UsageOptions): Promise<void> {
  const { from, to, groupBy } = options;
  const query = queryOf({ from, to, group_by: groupBy });
  const report = await operatorApi(options).call<MarginReportView>('GET', `/api/admin/usage/${query}`);
  if (options.json) return printJson(report);
  printTable(
    [groupBy.toUpperCase(), 'CALLS', 'CHARGED', 'OF THAT WITH COST', 'COST', 'MARGIN'],
    [
      ...report.rows.map((row) => [String(row[MARGIN_FIELDS[groupBy]] ?? 'none'), ...sums(row)]),
      ['total', ...sums(report.total)],
    ],
  );
}

function sums({ calls, charged, charged_with_cost, cost, margin }: MarginSumsView): string[] {
  return [String(calls), charged, charged_with_cost, cost ?? 'unknown', margin ?? 'unknown'];
}
