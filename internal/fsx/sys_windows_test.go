package fsx

func setUmask() {}

// replaceLimited has no limit to set here.
func replaceLimited(string) int { return 2 }
