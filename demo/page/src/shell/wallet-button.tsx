import { ConnectWalletDialog, useWallet } from '@causeway/sdk/react';
import { useState } from 'react';
import { WalletIcon } from '../icons.tsx';
import { Link } from '../route.tsx';
import { Address, useChecksum } from './copyable.tsx';
import { Menu } from './menu.tsx';

const shortAddress = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`;

/** Shows the connected wallet with its menu, or a button to connect a wallet. */
export function WalletButton() {
  const { wallet, disconnect } = useWallet('ethereum');
  const address = useChecksum(wallet?.address ?? '');
  const [isChoosing, setChoosing] = useState(false);
  const dialog = (
    <ConnectWalletDialog protocol="ethereum" open={isChoosing} onClose={() => setChoosing(false)} />
  );
  if (wallet === undefined)
    return (
      <>
        <button
          type="button"
          className="button"
          aria-label="Connect wallet"
          onClick={() => setChoosing(true)}
        >
          <WalletIcon /> <span className="label">Connect wallet</span>
        </button>
        {dialog}
      </>
    );
  return (
    <>
      <Menu
        label={`Wallet ${address}`}
        button={
          <>
            <WalletIcon /> <span className="label address">{shortAddress(address)}</span>
          </>
        }
      >
        {(close) => (
          <>
            <p className="menu-note">
              Connected to this page
              <Address address={address} />
            </p>
            <Link to="/wallets" className="menu-item" onClick={close}>
              Wallets and balances
            </Link>
            <button
              type="button"
              className="menu-item"
              onClick={() => {
                close();
                setChoosing(true);
              }}
            >
              Switch wallet
            </button>
            <button
              type="button"
              className="menu-item"
              onClick={() => {
                close();
                disconnect();
              }}
            >
              Disconnect
            </button>
          </>
        )}
      </Menu>
      {dialog}
    </>
  );
}
