import { Drawer } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';

/** What had the focus before the latest panel. A panel that takes another's place has the same opener. */
let latest: Element | null = null;

function openerNow(): Element | null {
  const focused = document.activeElement;
  if (focused?.closest('[role="dialog"]') == null) latest = focused;
  return latest;
}

/**
 * Details at the right edge, over the page, open while it is rendered. Escape and a click beside it close it, and the
 * focus returns to where it was.
 */
export function Panel(props: {
  title: string;
  actions?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const [opener] = useState(openerNow);
  useEffect(
    () => () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    },
    [opener],
  );
  return (
    <Drawer
      opened
      onClose={props.onClose}
      title={props.title}
      size="lg"
      // Mantine returns the focus only to what had it before the drawer was first opened.
      returnFocus={false}
      transitionProps={{ duration: 0 }}
    >
      {props.actions && <div className="actions panel-actions">{props.actions}</div>}
      {props.children}
    </Drawer>
  );
}
