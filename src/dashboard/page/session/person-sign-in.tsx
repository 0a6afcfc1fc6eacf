import { signInWith, type Ways } from '../api/people.ts';
import { gatewayUrl } from '../api/request.ts';
import type { Loaded } from '../api/use-load.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { TextField } from '../ui/field.tsx';
import { Shown } from '../ui/shown.tsx';
import { useFields } from '../ui/use-fields.ts';
import type { SignedIn } from './person.ts';
import { sessionOfPerson, signIn } from './session.ts';

/** Address at which a sign-in with a provider begins. */
export function providerHref(name: string): string {
  return gatewayUrl(`/api/session/oidc/${encodeURIComponent(name)}/`);
}

/** The ways in which a person signs in: a password, and the providers. */
export function PersonSignIn(props: {
  ways: Loaded<Ways>;
  /** What a provider's button does: a link, or an action. */
  provider: (name: string) => { readonly href: string } | { readonly act: () => void };
  /** Called after a sign-in with a password; default: the page begins. */
  onSignedIn?: (signedIn: SignedIn) => void;
}) {
  const { onSignedIn = (signedIn) => signIn(sessionOfPerson(signedIn)) } = props;
  return (
    <Shown of={props.ways}>
      {({ passwords, oidc }) => (
        <>
          {passwords && <PasswordForm onSignedIn={onSignedIn} />}
          <Providers names={oidc} provider={props.provider} />
        </>
      )}
    </Shown>
  );
}

function PasswordForm({ onSignedIn }: { onSignedIn: (signedIn: SignedIn) => void }) {
  const { form, field } = useFields(
    { email: '', password: '' },
    async ({ email, password }) => onSignedIn(await signInWith(email.trim(), password)),
    { invalid_credentials: 'password' },
  );
  return (
    <ActionForm {...form} verb="Sign in">
      <TextField {...field('email')} label="Email address" input={EMAIL_INPUT} />
      <TextField
        {...field('password')}
        label="Password"
        input={{ type: 'password', required: true, autoComplete: 'current-password' }}
      />
    </ActionForm>
  );
}

/** Attributes of the field for a person's own e-mail address. */
export const EMAIL_INPUT = { type: 'email', required: true, autoComplete: 'username' } as const;

/** A button for each provider. */
export function Providers({
  names,
  provider,
}: {
  names: readonly string[];
  provider: (name: string) => { readonly href: string } | { readonly act: () => void };
}) {
  return names.map((name) => {
    const way = provider(name);
    const words = `Continue with ${name}`;
    return (
      <p key={name}>
        {'href' in way ? (
          <a className="button" href={way.href}>
            {words}
          </a>
        ) : (
          <button type="button" onClick={way.act}>
            {words}
          </button>
        )}
      </p>
    );
  });
}
