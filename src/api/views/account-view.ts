import { creditsNumber, type Micro } from '../../domain/credits.ts';
import type { AccountRecord } from '../../domain/key.ts';
import { timestamp } from '../../domain/period.ts';
import { type CallLimitsView, callLimitsView } from './call-limits-view.ts';

/** An account as its owner sees it (specification section 7). Amounts are numbers of credits. */
export interface AccountView extends CallLimitsView {
  readonly id: number;
  readonly email: string;
  /** Balance after the last settled call. */
  readonly credits_balance: number;
  /** Sum of the holds of calls in flight, which is not yet subtracted from the balance. */
  readonly credits_held: number;
  readonly alert_threshold: number;
  /** How far calls in flight may together take the balance below 0. */
  readonly overdraft: number;
  readonly webhook_secret: string;
  readonly created_at: string;
}

/** An account as the operator sees it. */
export interface OperatorAccountView extends Omit<AccountView, 'webhook_secret'> {
  readonly is_active: boolean;
}

/** A page of `GET /api/admin/accounts/`. */
export interface AccountPageView {
  readonly accounts: readonly OperatorAccountView[];
  /** Value of `after` for the next page; null on the last page. */
  readonly next: string | null;
}

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
