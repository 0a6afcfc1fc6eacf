import { Button, PasswordInput, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { SessionView, WaysView } from '../../../api/people/person-view.ts';
import { gatewayUrl, HERE } from '../base.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask } from '../data/client.ts';
import { Mark } from '../ui/mark.tsx';
import { Failure, Note } from '../ui/note.tsx';
import { Loading } from '../ui/shown.tsx';
import { given, newPassword, TextsForm, useTexts } from './texts-form.tsx';

/** Frame of a page without a session: one card with a title. */
export function EntryFrame(props: { title: string; words?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${props.title} · Tollgate`;
  }, [props.title]);
  return (
    <main className="sign-in">
      <div className="card">
        <p className="brand">
          <Mark /> Tollgate
        </p>
        <h1>{props.title}</h1>
        {props.words && <p className="sign-in-words">{props.words}</p>}
        <div className="entry-body">{props.children}</div>
      </div>
    </main>
  );
}

/** An entry that was opened, or reloaded, without the secret of its link. */
export function NoSecret({ title, children }: { title: string; children: ReactNode }) {
  return (
    <EntryFrame title={title}>
      <Note kind="warning">
        <p>This address has no code. {children}</p>
      </Note>
      <ToDashboard />
    </EntryFrame>
  );
}

export function ToDashboard() {
  return (
    <p>
      <a href={HERE.href}>Go to the dashboard</a>
    </p>
  );
}

/** The first focusable field below has the focus as soon as it is shown. */
export function FirstFocus({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.querySelector<HTMLElement>('input:not([readonly])')?.focus(), []);
  return (
    <div ref={place} className="entry-body">
      {children}
    </div>
  );
}

/** Shows what is made of an answer that is read once, or why it could not be read. */
export function Once<Answer>({
  read,
  children,
}: {
  read: () => Promise<Answer>;
  children: (answer: Answer) => ReactNode;
}) {
  const [got, setGot] = useState<{ answer: Answer } | { error: unknown }>();
  useEffect(() => {
    if (got !== undefined) return;
    read().then(
      (answer) => setGot({ answer }),
      (error: unknown) => setGot({ error }),
    );
  }, [got, read]);
  if (got === undefined) return <Loading />;
  if ('error' in got) return <Failure error={got.error} retry={() => setGot(undefined)} />;
  return children(got.answer);
}

export function readWays(): Promise<WaysView> {
  return ask('/api/session/ways/');
}

/** The session that this browser has; undefined if it has none. */
export async function readSession(): Promise<SessionView | undefined> {
  try {
    return await ask('/api/session/');
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) return undefined;
    throw error;
  }
}

/** Reloads the page as whoever is signed in now, without anything of the session before. */
export function goTo(address: URL): void {
  location.replace(address);
}

/** Buttons of identity providers: a link to each, or what `use` does. */
export function Providers({
  names,
  use,
  before,
}: {
  names: readonly string[];
  use?: (name: string) => Promise<unknown>;
  /** Called before a link is followed. */
  before?: () => void;
}) {
  const [failure, setFailure] = useState<unknown>();
  return (
    <>
      <Failure error={failure} />
      {names.map((name) =>
        use ? (
          <Button key={name} fullWidth variant="default" onClick={() => void use(name).catch(setFailure)}>
            Continue with {name}
          </Button>
        ) : (
          <Button
            key={name}
            fullWidth
            variant="default"
            component="a"
            href={gatewayUrl(`/api/session/oidc/${encodeURIComponent(name)}/`)}
            onClick={before}
          >
            Continue with {name}
          </Button>
        ),
      )}
    </>
  );
}

/** Sends the browser to a provider, to accept an invitation or to link an identity. */
export async function goToProvider(
  name: string,
  body: { readonly secret: string } | { readonly link: true },
): Promise<void> {
  const path = `/api/session/oidc/${encodeURIComponent(name)}/`;
  const { location: address } = await ask<{ location: string }>(path, { method: 'POST', body });
  location.assign(address);
}

const SIGN_IN = { email: given('your e-mail address'), password: given('your password') };

/** Signs in with e-mail address and password, then calls `onDone`. */
export function PasswordSignIn({ onDone }: { onDone: () => void }) {
  const { form, field } = useTexts(
    SIGN_IN,
    async ({ email, password }) => {
      await ask('/api/session/', { method: 'POST', body: { email: email.trim(), password } });
      onDone();
    },
    { byCode: { invalid_credentials: 'password' } },
  );
  return (
    <TextsForm {...form} verb="Sign in">
      <TextInput {...field('email')} label="E-mail address" type="email" autoComplete="username" />
      <Secret {...field('password')} label="Password" autoComplete="current-password" />
    </TextsForm>
  );
}

/** Field for a password or a key, which can be shown. */
export function Secret(props: React.ComponentProps<typeof PasswordInput>) {
  return (
    <PasswordInput
      spellCheck="false"
      autoCapitalize="off"
      aria-invalid={props.error ? true : undefined}
      visibilityToggleFocusable
      visibilityToggleButtonProps={{ 'aria-label': 'Show what is typed' }}
      {...props}
    />
  );
}

const NEW_PERSON = {
  name: given('your name'),
  email: given('your e-mail address'),
  password: newPassword,
};

/** Form for a new person, who is made by `send`. */
export function NewPersonForm({
  verb,
  email,
  send,
}: {
  verb: string;
  /** The only address that is possible. */
  email?: string | null;
  send: (person: { name: string; email: string; password: string }) => Promise<unknown>;
}) {
  const { form, field } = useTexts(
    NEW_PERSON,
    ({ email, name, password }) => send({ email: email.trim(), name: name.trim(), password }),
    {
      initial: { email: email ?? '' },
      byCode: { email_taken: 'email', invitation_email: 'email', use_provider: 'email' },
    },
  );
  return (
    <TextsForm {...form} verb={verb}>
      <TextInput {...field('name')} label="Name" autoComplete="name" />
      <TextInput
        {...field('email')}
        label="E-mail address"
        type="email"
        autoComplete="username"
        readOnly={Boolean(email)}
      />
      <NewPassword {...field('password')} label="Password" />
    </TextsForm>
  );
}

export function NewPassword(props: React.ComponentProps<typeof PasswordInput>) {
  return <Secret description="10 to 200 characters" autoComplete="new-password" {...props} />;
}
