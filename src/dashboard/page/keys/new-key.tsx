import { useState } from 'react';
import type { CreatedKeyView } from '../../../api/keys/key-view.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { createKey } from '../api/keys.ts';
import { ANSWER_LOST } from '../api/request.ts';
import { useAction } from '../api/use-action.ts';
import { goTo } from '../route.ts';
import { makesOwnKeys } from '../session/session.ts';
import { useUnsaved } from '../ui/leave-guard.ts';
import { PageFrame } from '../ui/page.tsx';
import { CreatedKey } from './created-key.tsx';
import { isSameDraft, NEW_KEY } from './key-draft.ts';
import { KeyForm } from './key-form.tsx';
import { LostKeyAnswer } from './lost-key-answer.tsx';
import { readDraft } from './read-draft.ts';

export function NewKey() {
  const [draft, setDraft] = useState(NEW_KEY);
  const [created, setCreated] = useState<CreatedKeyView>();
  useUnsaved(created === undefined && !isSameDraft(draft, NEW_KEY));
  const read = readDraft(draft);
  const save = useAction(async () => {
    const said = draft.canManage === undefined ? {} : { can_manage: draft.canManage };
    const { webhook_url, ...own } = read.body;
    setCreated(await createKey({ ...own, ...(!makesOwnKeys() && { webhook_url }), ...said }));
  });
  const isLost = save.error instanceof ApiFailure && save.error.code === ANSWER_LOST;
  return (
    <PageFrame title="Create key" back={{ href: '#/keys', name: 'Keys' }}>
      <KeyForm
        known={undefined}
        draft={draft}
        onDraft={setDraft}
        faults={read.errors}
        save={save}
        verb="Create key"
        failure={isLost && <LostKeyAnswer error={save.error} name={read.body.name} />}
      />
      {created && <CreatedKey of={created} onDone={() => goTo(`/keys/${created.id}`)} />}
    </PageFrame>
  );
}
