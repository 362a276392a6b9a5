import { type ReactNode, useEffect, useRef } from 'react';
import { useApp } from '../app-context.tsx';
import { CloseIcon } from '../icons.tsx';
import { Clock } from './clock.tsx';
import { Mailbox } from './mailbox.tsx';
import { Market } from './market.tsx';
import { closePanel } from './panel-state.ts';
import { Reviews } from './reviews.tsx';
import { TestMoney } from './test-money.tsx';

/** Everything that is simulated, in one place: mail, test money, reviews, the market and the clock. */
export function SandboxPanel() {
  const { session, config } = useApp();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), []);
  return (
    <aside
      ref={panel}
      className="sandbox-panel"
      aria-label="Sandbox"
      tabIndex={-1}
      onKeyDown={(event) => event.key === 'Escape' && closePanel()}
    >
      <header>
        <h2>Sandbox</h2>
        <button
          type="button"
          className="button icon small"
          aria-label="Close the sandbox panel"
          onClick={closePanel}
        >
          <CloseIcon />
        </button>
      </header>
      {session.signed_in && (
        <Section name="Test money">
          <TestMoney />
        </Section>
      )}
      <Section name="Mail">
        <Mailbox />
      </Section>
      {session.signed_in && (
        <Section name="Review decisions">
          <Reviews />
        </Section>
      )}
      <Section name="Market">
        <Market />
      </Section>
      <Section name="Clock">
        <Clock />
      </Section>
      <Section name="For developers">
        <ul className="links">
          <li>
            <a href={`${config.base_url}/docs`} target="_blank" rel="noreferrer">
              API reference
            </a>
          </li>
          <li>
            <a href={`${config.base_url}/sandbox`} target="_blank" rel="noreferrer">
              Addresses, credentials and seed data (JSON)
            </a>
          </li>
        </ul>
      </Section>
    </aside>
  );
}

function Section({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section>
      <h3>{name}</h3>
      {children}
    </section>
  );
}
