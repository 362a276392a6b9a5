import { useEffect, useState } from 'react';
import { CopyIcon } from '../icons.tsx';

/** Shows text that users copy, such as an address or a transaction hash, with a copy button. */
export function Copyable({ text, name, href }: { text: string; name: string; href?: string | undefined }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <span className="copyable">
      {href === undefined ? (
        <code>{text}</code>
      ) : (
        <a href={href} target="_blank" rel="noreferrer">
          {text}
        </a>
      )}
      <button type="button" className="button icon small" aria-label={`Copy ${name}`} onClick={copy}>
        <CopyIcon size={14} />
      </button>
      <span role="status" className="soft">
        {isCopied && 'Copied'}
      </span>
    </span>
  );
}

/** Shows an EVM address with its checksum (EIP-55), so that typing mistakes can be detected. */
export function Address({ address }: { address: string }) {
  return <Copyable text={useChecksum(address)} name="address" />;
}

/** Returns an EVM address with its checksum (EIP-55), and anything else unchanged. */
export function useChecksum(address: string): string {
  const [checksummed, setChecksummed] = useState(address);
  useEffect(() => {
    if (!address.startsWith('0x')) return;
    let isUnmounted = false;
    // Loads the checksum code on demand, because only pages with an EVM address need it.
    void import('viem/utils').then(({ getAddress, isAddress }) => {
      if (!isUnmounted) setChecksummed(isAddress(address, { strict: false }) ? getAddress(address) : address);
    });
    return () => {
      isUnmounted = true;
    };
  }, [address]);
  // Just after `address` has changed, `checksummed` still holds the previous address.
  return checksummed.toLowerCase() === address.toLowerCase() ? checksummed : address;
}
