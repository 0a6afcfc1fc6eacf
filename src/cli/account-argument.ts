import { type Command, InvalidArgumentError } from 'commander';
import type { AccountPageView } from '../api/account/account-view.ts';
import { Failure, id, type RemoteOptions, remote } from './arguments.ts';
import { ACCOUNTS, operatorApi } from './gateway-api.ts';

/** Adds the argument and options of every command on one account. The action gets the id, also for an e-mail. */
export function withAccountId(command: Command): Command {
  return remote(command)
    .argument('<id>', 'id of the account, or the email address of its owner', idOrEmail)
    .hook('preAction', async (_command, action) => {
      const [given] = action.processedArgs;
      if (typeof given === 'string') action.processedArgs[0] = await idOf(given, action.opts());
    });
}

function idOrEmail(text: string): number | string {
  if (text.includes('@')) return text;
  try {
    return id(text);
  } catch {
    throw new InvalidArgumentError('It must be an id, a whole number from 1, or an email address.');
  }
}

/** Most accounts whose e-mail contains that of another. */
const MOST_ALIKE = 1_000;

async function idOf(email: string, options: RemoteOptions): Promise<number> {
  const query = `?limit=${MOST_ALIKE}&email=${encodeURIComponent(email)}`;
  const { accounts } = await operatorApi(options).call<AccountPageView>('GET', `${ACCOUNTS}${query}`);
  const same = accounts.find((account) => account.email.toLowerCase() === email.toLowerCase());
  if (!same) throw new Failure(`No account has the email address ${email}. See: tollgate account list`);
  return same.id;
}
