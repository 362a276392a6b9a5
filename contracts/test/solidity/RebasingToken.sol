// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @dev Balances are shares of a pool and change without a transfer, as those of staking tokens do.
contract RebasingToken {
    string public constant name = "Rebasing";
    string public constant symbol = "RBS";
    uint8 public constant decimals = 6;

    uint256 public pool = 1;
    mapping(address account => uint256) public sharesOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    function mint(address to, uint256 shares) external {
        sharesOf[to] += shares;
    }

    function rebase(uint256 factor) external {
        pool = factor;
    }

    function balanceOf(address account) external view returns (uint256) {
        return sharesOf[account] * pool;
    }
}
