import { changePerson, readSession, readWays, removeMember } from '../api/people.ts';
import { useLoad } from '../api/use-load.ts';
import { ROLE_NAMES } from '../format/words.ts';
import { NEW_PASSWORD_INPUT, PASSWORD_HINT } from '../session/new-person-fields.tsx';
import { enter, ownMembership, session, setPerson } from '../session/session.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { announce } from '../ui/announcements.tsx';
import { Section } from '../ui/elements.tsx';
import { TextField } from '../ui/field.tsx';
import { PageFrame } from '../ui/page.tsx';
import { useFields } from '../ui/use-fields.ts';
import { AskedButton } from './asked-button.tsx';
import { Identities } from './identities.tsx';
import { Sessions } from './sessions.tsx';

/** The person's own page: name, password, providers, sessions and the membership that is shown. */
export default function MePage() {
  const { data: ways } = useLoad(readWays);
  const person = session.value?.signedIn?.person;
  const membership = ownMembership();
  return (
    <PageFrame title="Me">
      <p className="lead">{person?.email}</p>
      <div className="columns columns-top">
        <Section title="Name">
          <NameForm name={person?.name ?? ''} />
        </Section>
        {ways?.passwords && (
          <Section title="Password">
            <PasswordForm />
          </Section>
        )}
      </div>
      {ways && ways.oidc.length > 0 && <Identities names={ways.oidc} />}
      <Sessions />
      {membership && person && (
        <Section title="Membership">
          <p>
            You are {ROLE_NAMES[membership.role]} of {membership.account.name}.
          </p>
          <AskedButton
            verb="Leave"
            title={`Leave ${membership.account.name}?`}
            words="You lose access to this account, and your keys in it are deactivated."
            act={() => removeMember(person.id)}
            done="You left the account."
            onDone={enter}
          />
        </Section>
      )}
    </PageFrame>
  );
}

function NameForm({ name }: { name: string }) {
  const { form, field } = useFields({ name }, async (texts) => {
    await changePerson({ name: texts.name.trim() });
    setPerson(await readSession());
    announce('Name changed.');
  });
  return (
    <ActionForm {...form} verb="Save">
      <TextField {...field('name')} label="Name" input={{ autoComplete: 'name' }} />
    </ActionForm>
  );
}

function PasswordForm() {
  const { form, field, reset } = useFields(
    { current_password: '', password: '' },
    async ({ current_password, password }) => {
      await changePerson({ password, ...(current_password !== '' && { current_password }) });
      reset();
      announce('Password changed. All other sessions have ended.');
    },
    { invalid_credentials: 'current_password' },
  );
  return (
    <ActionForm {...form} verb="Change password">
      <TextField
        {...field('current_password')}
        label="Current password"
        hint="Leave empty if you have none yet."
        input={{ type: 'password', autoComplete: 'current-password' }}
      />
      <TextField
        {...field('password')}
        label="New password"
        hint={PASSWORD_HINT}
        input={NEW_PASSWORD_INPUT}
      />
    </ActionForm>
  );
}
