import { Drawer } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';

/**
 * Details at the right edge, over the page, open while it is rendered. Escape and a click beside it close it, and the
 * focus returns to where it was.
 */
export function SidePanel(props: { title: string; onClose: () => void; children: ReactNode }) {
  const [opener] = useState(() => document.activeElement);
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
      // It records the focus when it opens later than it is drawn, which this one never does.
      returnFocus={false}
      transitionProps={{ duration: 0 }}
    >
      {props.children}
    </Drawer>
  );
}
