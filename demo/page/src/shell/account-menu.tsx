import { useApp } from '../app-context.tsx';
import { MailIcon, PersonIcon, ToolsIcon } from '../icons.tsx';
import { Link } from '../route.tsx';
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
            <>
              <Link to="/mail" className="menu-item" onClick={close}>
                <MailIcon /> Mail
              </Link>
              <Link to="/tools" className="menu-item" onClick={close}>
                <ToolsIcon /> Sandbox tools
              </Link>
            </>
          )}
          <a className="menu-item" href={`${config.base_url}/account`} target="_blank" rel="noreferrer">
            <PersonIcon /> Causeway account
          </a>
          <form method="post" action="/causeway/sign-out">
            <button type="submit" className="menu-item">
              Sign out
            </button>
          </form>
        </>
      )}
    </Menu>
  );
}
