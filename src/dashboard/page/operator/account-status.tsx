import type { OperatorAccountView } from '../../../api/views/account-view.ts';
import { Badge } from '../ui/badge.tsx';

export function AccountStatus({ of }: { of: OperatorAccountView }) {
  if (!of.is_active) return <Badge kind="bad">Inactive</Badge>;
  if (of.credits_balance < of.alert_threshold) return <Badge kind="warning">Low credits</Badge>;
  return <Badge kind="good">Active</Badge>;
}
