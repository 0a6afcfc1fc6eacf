import { numberIn, type PageProps } from '../page-props.ts';
import { AccountDetail } from './account-detail.tsx';
import { Accounts } from './accounts.tsx';
import { NewAccount } from './new-account.tsx';

export default function AccountsPage({ id, part }: PageProps) {
  if (id === 'new') return <NewAccount />;
  const number = numberIn(id);
  return number === undefined ? <Accounts /> : <AccountDetail id={number} part={part} />;
}
