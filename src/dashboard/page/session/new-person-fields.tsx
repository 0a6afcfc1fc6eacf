import { TextField } from '../ui/field.tsx';
import type { useFields } from '../ui/use-fields.ts';
import { EMAIL_INPUT } from './person-sign-in.tsx';

export const NEW_PERSON = { email: '', name: '', password: '' };
type Name = keyof typeof NEW_PERSON;

/** Attributes of the field for a new password. */
export const NEW_PASSWORD_INPUT = { type: 'password', required: true, autoComplete: 'new-password' } as const;
export const PASSWORD_HINT = '10 to 200 characters.';

/** The fields of a person who is made: name, e-mail address and password. */
export function NewPersonFields({
  field,
  hasFixedEmail = false,
}: {
  field: ReturnType<typeof useFields<Name>>['field'];
  /** True if the address is the invitation's. */
  hasFixedEmail?: boolean;
}) {
  return (
    <>
      <TextField {...field('name')} label="Name" input={{ required: true, autoComplete: 'name' }} />
      <TextField
        {...field('email')}
        label="Email address"
        input={{ ...EMAIL_INPUT, readOnly: hasFixedEmail }}
      />
      <TextField {...field('password')} label="Password" hint={PASSWORD_HINT} input={NEW_PASSWORD_INPUT} />
    </>
  );
}
