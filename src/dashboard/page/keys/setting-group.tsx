import type { ReactNode } from 'react';

/** Titles of the groups in the form of a key, in its order. */
export const SECTIONS = [
  'Basics',
  'Spending',
  'Rate limits',
  'Models',
  'Network',
  'Active hours',
  'Webhook',
] as const;
export type SectionTitle = (typeof SECTIONS)[number];

/** Id of the heading of a group, which the address names as `section`. */
export function sectionId(title: SectionTitle): string {
  return title.toLowerCase().replace(' ', '-');
}

/** A group of settings: its heading and a sentence about it, and beside them its fields. */
export function SettingGroup(props: { title: SectionTitle; words: ReactNode; children: ReactNode }) {
  return (
    <section className="card setting-group">
      <div className="setting-words">
        <h2 id={sectionId(props.title)} tabIndex={-1}>
          {props.title}
        </h2>
        <p className="hint">{props.words}</p>
      </div>
      <div className="setting-fields">{props.children}</div>
    </section>
  );
}
