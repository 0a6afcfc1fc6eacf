import type { KeyView } from '../../../api/views/key-view.ts';
import type { KeyDraft, KeyErrors } from './key-draft.ts';

/** What every section of the form gets. */
export interface KeyFormPart {
  readonly draft: KeyDraft;
  readonly errors: KeyErrors;
  readonly change: (part: Partial<KeyDraft>) => void;
  /** Undefined for a key that is being created. */
  readonly known: KeyView | undefined;
}
