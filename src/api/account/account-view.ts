import { creditsNumber, type Micro } from '../../domain/credits.ts';
import type { AccountRecord } from '../../domain/key.ts';
import { timestamp } from '../../domain/period.ts';
import { callLimitsView } from '../keys/key-view.ts';
import type { Static } from '../openapi/json-type.ts';
import type {
  AdminAccount,
  AdminAccountPage,
  CreatedAccount,
  CreditsAnswer,
} from '../operator/admin-schema.ts';
import type { Account } from './account-schema.ts';

/** An account as its owner sees it (specification section 7). Amounts are numbers of credits. */
export type AccountView = Static<typeof Account>;
/** An account as the operator sees it. */
export type OperatorAccountView = Static<typeof AdminAccount>;
/** A page of `GET /api/admin/accounts/`. */
export type AccountPageView = Static<typeof AdminAccountPage>;
/** The answer to the creation of an account. */
export type CreatedAccountView = Static<typeof CreatedAccount>;
/** The answer to a change of the balance. */
export type CreditsView = Static<typeof CreditsAnswer>;

/** Balance and holds of an account as Redis has them now. */
interface LiveAmounts {
  readonly balance: Micro;
  readonly held: Micro;
}

export function accountView(account: AccountRecord, live: LiveAmounts): AccountView {
  return {
    id: account.id,
    email: account.email,
    credits_balance: creditsNumber(live.balance),
    credits_held: creditsNumber(live.held),
    alert_threshold: creditsNumber(account.alertThreshold),
    overdraft: creditsNumber(account.overdraft),
    ...callLimitsView(account),
    webhook_secret: account.webhookSecret,
    created_at: timestamp(account.createdAt),
  };
}

export function operatorAccountView(account: AccountRecord, live: LiveAmounts): OperatorAccountView {
  return {
    id: account.id,
    email: account.email,
    is_active: account.isActive,
    credits_balance: creditsNumber(live.balance),
    credits_held: creditsNumber(live.held),
    alert_threshold: creditsNumber(account.alertThreshold),
    overdraft: creditsNumber(account.overdraft),
    ...callLimitsView(account),
    created_at: timestamp(account.createdAt),
  };
}
