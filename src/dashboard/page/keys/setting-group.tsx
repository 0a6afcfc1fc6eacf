import type { ReactNode } from 'react';

/** A group of settings: its heading and a sentence about it, and beside them its fields. */
export function SettingGroup(props: { title: string; words: ReactNode; children: ReactNode }) {
  return (
    <section className="card setting-group">
      <div className="setting-words">
        <h2>{props.title}</h2>
        <p className="hint">{props.words}</p>
      </div>
      <div className="setting-fields">{props.children}</div>
    </section>
  );
}
