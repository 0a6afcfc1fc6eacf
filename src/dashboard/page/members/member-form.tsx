import { Checkbox, NativeSelect } from '@mantine/core';
import type { MemberView } from '../../../api/people/member-view.ts';
import type { Role } from '../../../domain/roles.ts';
import { limitsWords } from '../format/limits.ts';
import { ROLE_NAMES, whatRoleMay } from '../format/roles.ts';
import { LimitsEditor } from '../limits/editor.tsx';
import { type LimitRow, limitRows, readLimitRows } from '../limits/limit-rows.ts';
import { useScope } from '../session/scope.ts';
import type { Edit } from '../ui/edit.tsx';
import { type ReadDraft, readFields } from '../ui/read-fields.ts';

/** What a membership, or an invitation to one, lets the member do. */
export type Offer = Pick<MemberView, 'role' | 'can_create_keys' | 'spending_limits'>;

export interface OfferDraft {
  readonly role: Role;
  readonly can_create_keys: boolean;
  readonly spending_limits: readonly LimitRow[];
}

export const OFFER_LABELS = {
  role: 'Role',
  can_create_keys: 'Can create keys',
  spending_limits: 'Spending limits',
};

export function offerDraft({ role, can_create_keys, spending_limits }: Offer): OfferDraft {
  return { role, can_create_keys, spending_limits: limitRows(spending_limits) };
}

export function readOffer({ role, can_create_keys, spending_limits }: OfferDraft): ReadDraft<Offer> {
  return readFields<Offer>({
    role: () => role,
    can_create_keys: () => can_create_keys,
    spending_limits: () => readLimitRows(spending_limits),
  });
}

/** A field of an offer in words. */
export function offerWords(field: string, value: unknown): string {
  if (field === 'role') return ROLE_NAMES[value as Role];
  if (field === 'spending_limits') return limitsWords(value as Offer['spending_limits']);
  return value ? 'yes' : 'no';
}

/** `May see the balance and the ledger; set the alert about a low balance.` */
export function roleSentence(role: Role): string {
  return `May ${whatRoleMay(role, 'their').join('; ')}.`;
}

/** Fields of an offer. The roles are those that the session gives. */
export function OfferFields<Draft extends OfferDraft>({ of }: { of: Edit<Draft> }) {
  const { givenRoles } = useScope();
  const { role, spending_limits } = of.form.values;
  return (
    <>
      <NativeSelect
        label="Role"
        description={roleSentence(role)}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        {...of.input('role')}
        data={givenRoles.map((given) => ({ value: given, label: ROLE_NAMES[given] }))}
      />
      {role === 'member' && <Checkbox label="Can create keys" {...of.tick('can_create_keys')} />}
      <LimitsEditor
        hint="For all keys of this person together. The limits of each key, and of the account, hold too."
        rows={spending_limits}
        onRows={(rows) => of.form.setFieldValue('spending_limits', rows as never)}
        error={of.form.errors.spending_limits}
      />
    </>
  );
}
