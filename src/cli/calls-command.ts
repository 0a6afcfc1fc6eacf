import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { OperatorCallView } from '../api/calls/call-view.ts';
import { CALL_RESULTS } from '../book/calls.ts';
import { queryOf } from './account-views.ts';
import { id, type RemoteOptions, remote } from './arguments.ts';
import { type GatewayApi, operatorApi } from './gateway-api.ts';
import { type Columns, cellsOf, print, shortCell, show } from './print.ts';

const CALLS = '/api/admin/calls/';
const FOLLOW_EVERY_MS = 1_000;
/** Calls per page, and maximum pages per read: a call is missed if it ends after 5,000 later ones arrived. */
const PAGE = 200;
const MAX_PAGES = 25;
/** One of so many reads takes all pages; the others end at the first without a new call. */
const WHOLE_EVERY = 10;
/** Call ids to remember; twice what a read can find. */
const REMEMBERED = 2 * PAGE * MAX_PAGES;

interface CallsOptions extends RemoteOptions {
  readonly account?: number;
  readonly keyId?: number;
  readonly person?: number;
  readonly model?: string;
  readonly endpoint?: string;
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
    .option('--person <id>', "only calls of this person's keys", id)
    .option('--model <name>', 'only calls of this model, as the request named it')
    .option('--endpoint <path>', 'only calls at this path')
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
  const { account, keyId, person, model, endpoint, code, result, upstream, from, to, limit, before } =
    options;
  const whose = { account_id: account, key_id: keyId, person_id: person };
  const filter = { ...whose, model, endpoint, code, result, upstream, from, to };
  const api = operatorApi(options);
  if (options.follow) return await follow(api, filter, options);
  const page = await pageOf(api, { ...filter, limit, before });
  show(options, page, COLUMNS, page.calls);
  if (!options.json && page.next !== null) print(`\nMore calls: --before ${page.next}`);
}

type Filter = Parameters<typeof queryOf>[0];

function pageOf(api: GatewayApi, filter: Filter): Promise<Page> {
  return api.call<Page>('GET', `${CALLS}${queryOf(filter)}`);
}

/** Prints the newest calls, then each call as it ends; with --json, one JSON line per call. */
async function follow(api: GatewayApi, filter: Filter, { json }: RemoteOptions): Promise<never> {
  const newCalls = new NewCalls((before) => pageOf(api, { ...filter, limit: PAGE, before }));
  for (;;) {
    for (const call of await newCalls.next())
      print(json ? JSON.stringify(call) : cellsOf(COLUMNS, call).join('  '));
    await sleep(FOLLOW_EVERY_MS);
  }
}

/**
 * Finds calls that a list did not have before. The list is by arrival and has no open calls, so a call that lasted long
 * appears behind later ones, in any of the pages.
 */
export class NewCalls {
  readonly #pageAt: (before: string | undefined) => Promise<Page>;
  readonly #known = new Set<string>();
  #reads = 0;

  constructor(pageAt: (before: string | undefined) => Promise<Page>) {
    this.#pageAt = pageAt;
  }

  /** Returns the calls that no earlier read found, oldest first. The first read returns those of the newest page. */
  async next(): Promise<OperatorCallView[]> {
    const isFirst = this.#reads === 0;
    const isWhole = this.#reads++ % WHOLE_EVERY === 0;
    const found: OperatorCallView[] = [];
    let newest = 0;
    let before: string | null | undefined;
    for (let page = 0; page < MAX_PAGES && before !== null; page++) {
      const { calls, next } = await this.#pageAt(before);
      const unknown = calls.filter(({ id }) => !this.#known.has(id));
      found.push(...unknown);
      if (page === 0) newest = found.length;
      if (unknown.length === 0 && !isWhole) break;
      before = next ?? null;
    }
    for (const { id } of found.toReversed()) this.#known.add(id);
    for (const old of this.#known) {
      if (this.#known.size <= REMEMBERED) break;
      this.#known.delete(old);
    }
    return (isFirst ? found.slice(0, newest) : found).reverse();
  }
}

const COLUMNS: Columns<OperatorCallView> = [
  ['TIME', ({ created_at }) => created_at],
  ['ACCOUNT', ({ account_id }) => account_id],
  ['KEY', ({ key_id }) => key_id],
  ['MODEL', ({ model }) => model && shortCell(model)],
  ['STATUS', ({ status }) => status],
  [
    'RESULT',
    ({ code, outcome, repeated }) => `${code ?? outcome ?? '-'}${repeated > 1 ? ` x${repeated}` : ''}`,
  ],
  ['CHARGE', ({ charge }) => charge, 'right'],
  ['MS', ({ duration_ms }) => duration_ms, 'right'],
  ['PROVIDER', ({ upstream }) => upstream],
  ['REQUEST', ({ id }) => id],
  ['MESSAGE', ({ message }) => message ?? ''],
];
