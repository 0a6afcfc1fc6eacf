import { providerAddress, readIdentities, removeIdentity } from '../api/people.ts';
import { useAction } from '../api/use-action.ts';
import { useLoad } from '../api/use-load.ts';
import { Section } from '../ui/elements.tsx';
import { FailureNote } from '../ui/note.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { AskedButton } from './asked-button.tsx';

/** The providers with which the person signs in, and those that can be linked. */
export function Identities({ names }: { names: readonly string[] }) {
  const loaded = useLoad(readIdentities);
  const link = useAction(async (name: string) => {
    location.assign(await providerAddress(name, { link: true }));
  });
  return (
    <Section title="Sign-in providers">
      <Shown of={loaded}>
        {(identities) =>
          identities.length > 0 && (
            <Table label="Linked providers" columns={['Provider', 'Email address', 'Actions']}>
              {identities.map(({ id, issuer, name, email }) => (
                <tr key={id}>
                  <th scope="row">{name ?? issuer}</th>
                  <td>{email ?? '–'}</td>
                  <td>
                    <AskedButton
                      verb="Unlink"
                      title={`Unlink ${name ?? issuer}?`}
                      words="You can't sign in with it any more."
                      act={() => removeIdentity(id)}
                      done="Provider unlinked."
                      onDone={loaded.reload}
                    />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
      <FailureNote error={link.error} />
      <div className="actions below-table">
        {names.map((name) => (
          <button key={name} type="button" onClick={() => void link.run(name)}>
            Link {name}
          </button>
        ))}
      </div>
    </Section>
  );
}
