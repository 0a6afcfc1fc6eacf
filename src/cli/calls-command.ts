import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { OperatorCallView } from '../api/calls/call-view.ts';
import { CALL_RESULTS } from '../book/calls.ts';
import { queryOf } from './account-views.ts';
import { id, type RemoteOptions, remote } from './arguments.ts';
import { type GatewayApi, operatorApi } from './gateway-api.ts';
import { print, printJson, printTable, shortCell } from './print.ts';

const CALLS = '/api/admin/calls/';
const FOLLOW_EVERY_MS = 1_000;
/** Calls per page and, below, maximum pages per poll if many calls ended since the last one. */
const PAGE = 200;
const MOST_PAGES = 25;
/** Printed call ids to remember; more than one poll can find. */
const REMEMBERED = 2 * PAGE * MOST_PAGES;

interface CallsOptions extends RemoteOptions {
  readonly account?: number;
  readonly keyId?: number;
  readonly model?: string;
  readonly code?: string;
  readonly result?: string;
  readonly upstream?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  readonly before?: string;
  readonly follow?: true;
}

interface Page {
  readonly calls: readonly OperatorCallView[];
  readonly next: string | null;
}

/** `tollgate calls`: calls of a running gateway, including refused ones. */
export function callsCommand(program: Command): void {
  remote(program.command('calls'))
    .description('list the calls of a running gateway, newest first, including refused ones')
    .option('--account <id>', 'only calls of this account', id)
    .option('--key-id <id>', 'only calls of this key', id)
    .option('--model <name>', 'only calls of this model, as the request named it')
    .option('--code <code>', 'only calls with this error code')
    .addOption(new Option('--result <result>', 'only calls with this result').choices([...CALL_RESULTS]))
    .option('--upstream <name>', 'only calls sent to this provider')
    .option('--from <time>', 'first day or time, ISO 8601')
    .option('--to <time>', 'last day or time, ISO 8601')
    .option('--limit <count>', 'maximum number of calls (default: 50)', id)
    .option('--before <cursor>', 'continue after the previous page')
    .option('--follow', 'print calls as they end, oldest first, until you stop it')
    .action(calls);
}

async function calls(options: CallsOptions): Promise<void> {
  const { account, keyId, model, code, result, upstream, from, to, limit, before } = options;
  const filter = { account_id: account, key_id: keyId, model, code, result, upstream, from, to };
  const api = operatorApi(options);
  if (options.follow) return await follow(api, filter, options);
  const page = await pageOf(api, { ...filter, limit, before });
  if (options.json) return printJson(page);
  printTable(HEAD, page.calls.map(rowOf));
  if (page.next !== null) print(`\nMore calls: --before ${page.next}`);
}

type Filter = Parameters<typeof queryOf>[0];

function pageOf(api: GatewayApi, filter: Filter): Promise<Page> {
  return api.call<Page>('GET', `${CALLS}${queryOf(filter)}`);
}

/** Prints the newest calls, then each call as it ends; with --json, one JSON line per call. */
async function follow(api: GatewayApi, filter: Filter, { json }: RemoteOptions): Promise<never> {
  const printed = new Set<string>();
  for (let isFirst = true; ; isFirst = false) {
    const fresh = await unprinted(api, filter, printed, isFirst ? 1 : MOST_PAGES);
    for (const call of fresh.reverse()) {
      print(json ? JSON.stringify(call) : rowOf(call).join('  '));
      printed.add(call.id);
    }
    for (const old of printed) {
      if (printed.size <= REMEMBERED) break;
      printed.delete(old);
    }
    await sleep(FOLLOW_EVERY_MS);
  }
}

/** Calls not printed yet, newest first, up to the first page without any. */
async function unprinted(
  api: GatewayApi,
  filter: Filter,
  printed: ReadonlySet<string>,
  mostPages: number,
): Promise<OperatorCallView[]> {
  const fresh: OperatorCallView[] = [];
  let before: string | null | undefined;
  for (let page = 0; page < mostPages && before !== null; page++) {
    const { calls, next } = await pageOf(api, { ...filter, limit: PAGE, before });
    const found = calls.filter((call) => !printed.has(call.id));
    fresh.push(...found);
    if (found.length === 0) break;
    before = next;
  }
  return fresh;
}

const HEAD = [
  'TIME',
  'ACCOUNT',
  'KEY',
  'MODEL',
  'STATUS',
  'RESULT',
  'CHARGE',
  'MS',
  'PROVIDER',
  'REQUEST',
  'MESSAGE',
];

function rowOf(call: OperatorCallView): string[] {
  const { repeated } = call;
  return [
    call.created_at,
    String(call.account_id),
    call.key_id === null ? '-' : String(call.key_id),
    call.model === null ? '-' : shortCell(call.model),
    call.status === null ? '-' : String(call.status),
    (call.code ?? call.outcome ?? '-') + (repeated > 1 ? ` x${repeated}` : ''),
    call.charge,
    call.duration_ms === null ? '-' : String(call.duration_ms),
    call.upstream ?? '-',
    call.id,
    call.message ?? '',
  ];
}
