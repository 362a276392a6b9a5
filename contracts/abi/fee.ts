// Compiled from Fee.sol by `npm run build -w contracts`.
export const fee = {
  abi: [
    {"inputs":[{"internalType":"uint256","name":"bps","type":"uint256"}],"name":"FeeTooHigh","type":"error"},
  ] as const,
  bytecode: '0x601f6032600b8282823980515f1a607314602657634e487b7160e01b5f525f60045260245ffd5b305f52607381538281f3fe730000000000000000000000000000000000000000301460806040525f5ffd',
  deployedBytecode: '0x730000000000000000000000000000000000000000301460806040525f5ffd',
} as const;
