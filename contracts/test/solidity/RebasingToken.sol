// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @dev Balances are shares of a pool and change without a transfer, like the balances of staking tokens.
contract RebasingToken {
    string public constant name = "Rebasing";
    string public constant symbol = "RBS";
    uint8 public constant decimals = 6;

    uint256 public pool = 1;
    mapping(address account => uint256) public sharesOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Approval(address indexed owner, address indexed spender, uint256 amount);
    event Transfer(address indexed from, address indexed to, uint256 amount);

    function mint(address to, uint256 shares) external {
        sharesOf[to] += shares;
    }

    function rebase(uint256 factor) external {
        pool = factor;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    /// @dev Moves whole shares, so the receiver may get less than `amount`.
    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        uint256 shares = amount / pool;
        sharesOf[from] -= shares;
        sharesOf[to] += shares;
        emit Transfer(from, to, shares * pool);
        return true;
    }

    function balanceOf(address account) external view returns (uint256) {
        return sharesOf[account] * pool;
    }
}
