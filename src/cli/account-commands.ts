import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type {
  AccountPageView,
  CreatedAccountView,
  CreditsView,
  OperatorAccountView,
} from '../api/account/account-view.ts';
import { DEFAULT_ALERT_THRESHOLD } from '../domain/key.ts';
import { accountViewCommands } from './account-views.ts';
import {
  type CallLimitOptions,
  callLimitFields,
  callLimitsCell,
  credits,
  Failure,
  id,
  Refused,
  type RemoteOptions,
  remote,
  withCallLimits,
  withAccountId as withId,
} from './arguments.ts';
import { ACCOUNTS, operatorApi } from './gateway-api.ts';
import { showNewKey } from './key-commands.ts';
import { type Columns, exactCredits, print, printJson, show } from './print.ts';

const PAGE = 1_000;

/** `tollgate account …`: uses the operator's routes of a running gateway. */
export function accountCommands(program: Command): void {
  const account = program
    .command('account')
    .description('manage the accounts of a running gateway (operator)');
  withCallLimits(remote(account.command('create')))
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
  remote(account.command('list')).description('list all accounts with their balances').action(list);
  remote(account.command('credit'))
    .description('top up an account; a negative amount is an adjustment')
    .argument('<id>', 'id of the account', id)
    .argument('<amount>', 'credits, at most six decimals', credits)
    .option('--note <text>', 'note in the ledger')
    .option('--idempotency-key <key>', 'makes repeats safe: the same key changes the balance once')
    .action(credit);
  withId(account.command('show'))
    .description('show an account')
    .action((accountId, options) => showAccount(accountId, options));
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
  withCallLimits(withId(account.command('limits')))
    .description('change the rate limits that all keys of an account share')
    .action(limits);
  accountViewCommands(account);
}

async function showAccount(accountId: number, options: RemoteOptions, fields?: object) {
  const method = fields ? 'PATCH' : 'GET';
  const path = `${ACCOUNTS}${accountId}/`;
  const account = await operatorApi(options).call<OperatorAccountView>(method, path, fields);
  show(options, account, COLUMNS, [account]);
}

async function limits(accountId: number, options: RemoteOptions & CallLimitOptions) {
  const fields = callLimitFields(options);
  if (Object.keys(fields).length === 0) {
    throw new Failure('No change was given. Set a limit; --help lists them.', { isUsage: true });
  }
  await showAccount(accountId, options, fields);
}

const COLUMNS: Columns<OperatorAccountView> = [
  ['ID', ({ id }) => id],
  ['E-MAIL', ({ email }) => email],
  ['ACTIVE', ({ is_active }) => is_active],
  ['BALANCE', ({ credits_balance }) => exactCredits(credits_balance), 'right'],
  ['HELD', ({ credits_held }) => exactCredits(credits_held), 'right'],
  ['ALERT BELOW', ({ alert_threshold }) => exactCredits(alert_threshold), 'right'],
  ['OVERDRAFT', ({ overdraft }) => exactCredits(overdraft), 'right'],
  ['CALLS', callLimitsCell],
  ['CREATED', ({ created_at }) => created_at],
];

async function create(
  email: string,
  options: RemoteOptions & CallLimitOptions & { credits?: number; threshold?: number; overdraft?: number },
) {
  const answer = await operatorApi(options).call<CreatedAccountView>('POST', ACCOUNTS, {
    email,
    credits: options.credits,
    alert_threshold: options.threshold,
    overdraft: options.overdraft,
    ...callLimitFields(options),
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

async function list(options: RemoteOptions) {
  const api = operatorApi(options);
  const accounts: OperatorAccountView[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const query = `?limit=${PAGE}${after ? `&after=${encodeURIComponent(after)}` : ''}`;
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
