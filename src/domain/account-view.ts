/** An account as its owner sees it (specification section 7). Credits are numbers of credits. */
export interface AccountView {
  readonly id: number;
  readonly email: string;
  readonly credits_balance: number;
  readonly credits_held: number;
  readonly alert_threshold: number;
  readonly webhook_secret: string;
  readonly created_at: string;
}

/** An account as the operator sees it. */
export interface OperatorAccountView extends Omit<AccountView, 'webhook_secret'> {
  readonly is_active: boolean;
}
