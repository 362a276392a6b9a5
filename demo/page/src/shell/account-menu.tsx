import { useApp } from '../app-context.tsx';
import { PersonIcon, SignOutIcon, ToolsIcon } from '../icons.tsx';
import { openPanel } from '../sandbox/panel-state.ts';
import { Menu } from './menu.tsx';

export function AccountMenu() {
  const { config, session } = useApp();
  if (!session.signed_in)
    return (
      <a className="button main" href="/causeway/sign-in?return_to=/offers">
        Sign in
      </a>
    );
  return (
    <Menu label="Your account" className="icon" button={<PersonIcon />}>
      {(close) => (
        <>
          <p className="menu-note">
            Signed in as
            <strong>{session.user?.email ?? 'a Causeway user'}</strong>
          </p>
          {config.is_sandbox && (
            <button
              type="button"
              className="menu-item"
              onClick={() => {
                close();
                openPanel();
              }}
            >
              <ToolsIcon /> Mail and sandbox tools
            </button>
          )}
          <a className="menu-item" href={`${config.base_url}/account`} target="_blank" rel="noreferrer">
            <PersonIcon /> Causeway account
          </a>
          <form method="post" action="/causeway/sign-out">
            <button type="submit" className="menu-item">
              <SignOutIcon /> Sign out
            </button>
          </form>
        </>
      )}
    </Menu>
  );
}
