import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type {
  AccountPageView,
  AccountPatchBody,
  CreatedAccountView,
  CreditsView,
  ListedAccountView,
  OperatorAccountView,
} from '../api/account/account-view.ts';
import { DEFAULT_ALERT_THRESHOLD } from '../domain/key.ts';
import type { WireLimit } from '../domain/spending-limits.ts';
import { withAccountId as withId } from './account-argument.ts';
import { accountViewCommands, queryOf } from './account-views.ts';
import {
  type CallLimitOptions,
  callLimitFields,
  callLimitsCell,
  credits,
  Failure,
  periodLimits,
  Refused,
  type RemoteOptions,
  remote,
  spendingLimitsCell,
  withCallLimits,
  withCsv,
} from './arguments.ts';
import { ACCOUNTS, operatorApi } from './gateway-api.ts';
import { showNewKey } from './key-commands.ts';
import { type Columns, cellsOf, exactCredits, print, printJson, show } from './print.ts';

const PAGE = 1_000;

/** `tollgate account …`: uses the operator's routes of a running gateway. */
export function accountCommands(program: Command): void {
  const account = program
    .command('account')
    .description('manage the accounts of a running gateway (operator)');
  withLimits(remote(account.command('create')))
    .description('create an account and its first key')
    .argument('<email>', 'email address of the owner')
    .option('--credits <credits>', 'initial credits', credits)
    .option(
      '--threshold <credits>',
      `send the low-credits alert below this balance (default: ${DEFAULT_ALERT_THRESHOLD})`,
      credits,
    )
    .option(
      '--overdraft <credits>',
      'how far below 0 calls in flight can take the balance (default: accounts.overdraft of the gateway)',
      credits,
    )
    .action(create);
  withCsv(remote(account.command('list')))
    .description('list all accounts with their balances')
    .option('--email <text>', 'only accounts whose email address contains this')
    .action(list);
  withId(account.command('credit'))
    .description('top up an account; a negative amount is an adjustment')
    .argument('<amount>', 'credits, at most six decimals', credits)
    .option('--note <text>', 'note in the ledger')
    .option('--idempotency-key <key>', 'makes repeats safe: the same key changes the balance once')
    .action(credit);
  withId(account.command('show')).description('show an account').action(showWhole);
  withId(account.command('deactivate'))
    .description('refuse all keys of an account')
    .action((accountId, options) => showAccount(accountId, options, { is_active: false }));
  withId(account.command('activate'))
    .description('accept the keys of an account again')
    .action((accountId, options) => showAccount(accountId, options, { is_active: true }));
  withId(account.command('email'))
    .description('change the email address of the owner')
    .argument('<email>', 'the new address')
    .action((accountId, email, options) => showAccount(accountId, options, { email }));
  withId(account.command('threshold'))
    .description('change the alert threshold')
    .argument('<credits>', 'credits', credits)
    .action((accountId, amount, options) => showAccount(accountId, options, { alert_threshold: amount }));
  withId(account.command('overdraft'))
    .description('change how far below 0 calls in flight can take the balance')
    .argument('<credits>', 'credits, 0 or more', credits)
    .action((accountId, amount, options) => showAccount(accountId, options, { overdraft: amount }));
  withId(account.command('erase'))
    .description(
      'deactivate an account, and remove e-mail, names, descriptions, addresses and texts of its calls, for good; sums stay',
    )
    .option('--yes', 'confirm it')
    .action(erase);
  withLimits(withId(account.command('limits')))
    .description('change the limits that all keys of an account share')
    .action(limits);
  accountViewCommands(account);
}

type LimitOptions = CallLimitOptions & { readonly limit?: readonly WireLimit[] | false };

/** Adds the options that set and remove limits of all keys together. */
function withLimits(command: Command): Command {
  return withCallLimits(command)
    .option(
      '--limit <limit>',
      'maximum credits that its keys can spend in a period, repeatable: 5h=2, daily=5, weekly=20, monthly=50, total=100. ' +
        'These replace all earlier ones',
      periodLimits,
    )
    .option('--no-limit', 'no spending limits');
}

/** Given limits under their API names. */
function limitFields(options: LimitOptions): AccountPatchBody {
  const { limit } = options;
  return { ...callLimitFields(options), ...(limit !== undefined && { spending_limits: limit || [] }) };
}

async function showAccount(accountId: number, options: RemoteOptions, fields: object) {
  const path = `${ACCOUNTS}${accountId}/`;
  const account = await operatorApi(options).call<OperatorAccountView>('PATCH', path, fields);
  show(options, account, COLUMNS, [account]);
}

/** Prints all that is known of an account, a line each. */
async function showWhole(accountId: number, options: RemoteOptions) {
  const account = await operatorApi(options).call<ListedAccountView>('GET', `${ACCOUNTS}${accountId}/`);
  if (options.json) return printJson(account);
  const cells = cellsOf(DETAILS, account);
  for (const [at, [heading]] of DETAILS.entries()) print(`${heading.padEnd(16)}  ${cells[at]}`);
}

async function limits(accountId: number, options: RemoteOptions & LimitOptions) {
  const fields = limitFields(options);
  if (Object.keys(fields).length === 0) {
    throw new Failure('No change was given. Set a limit; --help lists them.', { isUsage: true });
  }
  await showAccount(accountId, options, fields);
}

/** Time limit of an erasure: 200,000 calls took 3 s on SQLite, and 17 s on PostgreSQL. */
const ERASE_WITHIN_MS = 600_000;

async function erase(accountId: number, options: RemoteOptions & { yes?: true }) {
  if (!options.yes) {
    throw new Failure(
      `Erasing account ${accountId} can't be undone: its keys end, and its e-mail, names and texts go. To confirm, add --yes.`,
      { isUsage: true },
    );
  }
  const answer = await operatorApi(options, ERASE_WITHIN_MS).call('DELETE', `${ACCOUNTS}${accountId}/`);
  if (options.json) printJson(answer);
  else print(`Account ${accountId} is erased. Its members stay as people: see \`tollgate person erase\`.`);
}

const COLUMNS: Columns<OperatorAccountView> = [
  ['ID', ({ id }) => id],
  ['E-MAIL', ({ email }) => email],
  ['ACTIVE', ({ is_active }) => is_active],
  ['BALANCE', ({ credits_balance }) => exactCredits(credits_balance), 'right'],
  ['HELD', ({ credits_held }) => exactCredits(credits_held), 'right'],
  ['ALERT BELOW', ({ alert_threshold }) => exactCredits(alert_threshold), 'right'],
  ['OVERDRAFT', ({ overdraft }) => exactCredits(overdraft), 'right'],
  ['LIMITS', spendingLimitsCell],
  ['CALLS', callLimitsCell],
  ['CREATED', ({ created_at }) => created_at],
];

const DETAILS: Columns<ListedAccountView> = [
  ...COLUMNS.slice(0, 2),
  ['NAME', ({ name }) => name],
  ...COLUMNS.slice(2),
  ['LEFT OF LIMITS', ({ limits }) => limits.map(leftOf).join(', ') || 'none'],
  ['SPENT IN 30 DAYS', ({ spent_30d }) => spent_30d],
  ['LASTS', ({ lasts_days: days }) => (days === null ? null : `${days.toFixed(1)} days`)],
  [
    'REFUSED IN 24 H',
    ({ refused_24h, out_of_credits }) => `${refused_24h}${out_of_credits ? ', out of credits' : ''}`,
  ],
  ['LAST USED', ({ last_used_at }) => last_used_at ?? 'never'],
];

/** `daily 3.500000 until 2026-11-30T00:00:00.000Z`. */
function leftOf({ period, remaining, resets_at: until }: ListedAccountView['limits'][number]): string {
  return `${period} ${remaining}${until === null ? '' : ` until ${until}`}`;
}

async function create(
  email: string,
  options: RemoteOptions & LimitOptions & { credits?: number; threshold?: number; overdraft?: number },
) {
  const answer = await operatorApi(options).call<CreatedAccountView>('POST', ACCOUNTS, {
    email,
    credits: options.credits,
    alert_threshold: options.threshold,
    overdraft: options.overdraft,
    ...limitFields(options),
  });
  if (options.json) return printJson(answer);
  const { account, key } = answer;
  print(`Account ${account.id} (${account.email}) has ${exactCredits(account.credits_balance)} credits.`);
  if (account.credits_balance < account.alert_threshold) {
    print(
      `No alert is sent before a top-up takes the balance to the alert threshold of ${exactCredits(account.alert_threshold)} ` +
        `credits. Lower it: tollgate account threshold ${account.id} <credits>`,
    );
  }
  showNewKey(key);
}

async function list(options: RemoteOptions & { email?: string }) {
  const api = operatorApi(options);
  const accounts: OperatorAccountView[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const query = queryOf({ limit: PAGE, after: after || undefined, email: options.email });
    const page: AccountPageView = await api.call('GET', `${ACCOUNTS}${query}`);
    accounts.push(...page.accounts);
    after = page.next;
  }
  show(options, { accounts }, COLUMNS, accounts);
}

/**
 * Changes the balance. Always sends an idempotency key, so that repeating the command after a lost response, as the
 * error advises, changes the balance only once.
 */
async function credit(
  accountId: number,
  amount: number,
  options: RemoteOptions & { note?: string; idempotencyKey?: string },
) {
  const key = options.idempotencyKey ?? randomUUID();
  const body = { amount, note: options.note };
  const answer = await operatorApi(options)
    .call<CreditsView>('POST', `${ACCOUNTS}${accountId}/credits/`, body, {
      'idempotency-key': key,
    })
    .catch((cause: Error) => {
      if (cause instanceof Refused) throw cause;
      throw new Failure(`${cause.message} To repeat it safely, add: --idempotency-key ${key}`, { cause });
    });
  if (options.json) return printJson({ account_id: accountId, ...answer, idempotency_key: key });
  print(`Account ${accountId} has ${exactCredits(answer.credits_balance)} credits.`);
}
